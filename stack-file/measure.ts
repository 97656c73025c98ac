import { z } from "zod";

/** Words for what is measured or needed: rates, times, shares. Each becomes a number of one unit. */

const rates: Record<string, number> = {
  "MB/s": 1,
  "GB/s": 1000,
  "MiB/s": 1.048576,
  "GiB/s": 1073.741824,
  "Mbit/s": 1 / 8,
  "Gbit/s": 1000 / 8,
};

/** MB/s of 10^6 bytes. */
export const bandwidth = word(
  rates,
  (text) =>
    `${text} is no bandwidth: write a number with MB/s or GB/s (powers of 1000), MiB/s, GiB/s, Mbit/s or Gbit/s, such as 400 MB/s`,
);

/** Milliseconds. */
export const milliseconds = word(
  { us: 0.001, µs: 0.001, ms: 1, s: 1000 },
  (text) => `${text} is no time: write a number with us, ms or s, such as 2 ms`,
);

/** Percent. */
export const share = word({ "%": 1 }, (text) => `${text} is no share: write a number with %, such as 30 %`);

/** A number with one of these units, as a number of the unit that counts 1. */
function word(units: Readonly<Record<string, number>>, problem: (text: string) => string) {
  return z.string().transform((text, context) => {
    const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*(\D+)$/.exec(text.trim()) ?? [];
    const factor = units[unit];
    if (factor !== undefined) return Number(number) * factor;
    context.addIssue({ code: "custom", message: problem(JSON.stringify(text)) });
    return z.NEVER;
  });
}
