import { textTable } from "../bench/table.ts";
import { cases, judge } from "../test/bench/diagnosis/cases.ts";

/** Every case of the diagnosis with what it expects and what is found: npm run -s diagnose:cases */

const judged = cases().map(judge);
const right = judged.filter(({ wrong }) => wrong.length === 0);

console.log(
  textTable({
    head: ["case", "source", "expected", "found", "right"],
    words: true,
    rows: judged.map(({ one, found, wrong }) => [
      one.name,
      one.source.split(/[:,;]/, 2).join(":").slice(0, 60),
      [one.expected.limit ?? "none", ...one.expected.others.map((rule) => `+${rule}`)].join(" "),
      [found.limit?.rule ?? "none", ...found.others.map(({ rule }) => `+${rule}`)].join(" "),
      wrong.length === 0 ? "yes" : `no: ${wrong.join(", ")}`,
    ]),
  }),
);
console.log(`diagnosis: ${judged.length} cases, ${right.length} right`);
process.exitCode = right.length === judged.length ? 0 : 1;
