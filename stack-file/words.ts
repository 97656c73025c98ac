import { z } from "zod";
import { iqnProblem } from "../provider/resources/lio/iqn.ts";
import { portalProblem } from "../provider/resources/net/address.ts";
import { formatSize, parseSize } from "../provider/size.ts";

/** The stack file's words: sizes, times, names and addresses, each with the sentence for what is none. */

/**
 * A value as YAML gives it: a bare `off` or `on` is a truth value to some versions, a bare number of bytes a number.
 * Where the schema takes neither, it gets the word.
 */
export const inYaml = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (schema.safeParse(value).success ? value : asWord(value)), schema);

const asWord = (value: unknown): unknown =>
  value === false ? "off" : value === true ? "on" : typeof value === "number" ? String(value) : value;

/** All fields of a type so, secrets apart: digits that went through a number are not what was written. */
export const yamlWords = <S extends z.core.$ZodShape>(shape: S): S =>
  Object.fromEntries(
    Object.entries(shape).map(([key, field]) => [
      key,
      isSecret(field as z.ZodType) ? field : inYaml(field as z.ZodType),
    ]),
  ) as unknown as S;

const isSecret = (field: z.ZodType): boolean => field.meta()?.secret === true;

/** A text of which `problem` says what is wrong with it. */
const checked = (problem: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = problem(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

export const size = checked(sizeProblem);
export const iqn = checked(iqnProblem);
export const portal = checked(portalProblem);

/** Why this is no size; `64MB` is told in bytes what it could have meant. */
export function sizeProblem(text: string): string | undefined {
  if (parseSize(text) !== undefined) return undefined;
  const none = `${JSON.stringify(text)} is no size: write a number with an IEC unit (200 GiB, 16 KiB) or zfs notation (200G)`;
  const [, number = "", unit = ""] = /^([\d.]+)\s*([KMGTP])B$/i.exec(text.trim()) ?? [];
  const binary = parseSize(`${number}${unit}`);
  if (unit === "" || binary === undefined) return none;
  const decimal = Number(number) * 1000 ** ("KMGTP".indexOf(unit.toUpperCase()) + 1);
  return `${none}; ${unit}B may be ${formatSize(binary)} (${binary} bytes) or ${decimal} bytes`;
}

export const seconds = z
  .string()
  .regex(/^\d+\s*s$/, "a time is whole seconds, such as 180 s")
  .transform((text) => Number.parseInt(text, 10));

export const cidr = z.union([z.cidrv4(), z.cidrv6()], {
  error: (issue) =>
    `${JSON.stringify(issue.input)} is no address with a prefix length, such as 10.10.10.1/24`,
});

/** `by-id/x` is short for /dev/disk/by-id/x. */
export const diskPath = (disk: string): string => (disk.startsWith("/") ? disk : `/dev/disk/${disk}`);

export const patterns = z
  .union([z.string(), z.array(z.string()).min(1)])
  .transform((p) => (Array.isArray(p) ? p : [p]));

/** One name for all hosts, or one a host. */
export const oneOrEach = z.union([z.string(), z.record(z.string(), z.string())]);
export const nameOn = (names: z.infer<typeof oneOrEach> | undefined, host: string): string | undefined =>
  typeof names === "string" ? names : names?.[host];
