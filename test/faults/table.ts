import { type Kind, kinds, kindsSay } from "./fault.ts";
import { type Operation, operations } from "./points.ts";
import type { Result } from "./result.ts";

/** Results as the table of docs/reliability.md, and the line that everything ends with. Pure. */

/** Lines of JSON, as a run writes them; the last may be cut off by whatever ended the run. */
export function parseResults(text: string): Result[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.flatMap((line, n) => {
    try {
      return [JSON.parse(line) as Result];
    } catch (cause) {
      if (n === lines.length - 1) return [];
      throw new Error(`line ${n + 1} is no result: ${line.slice(0, 80)}`, { cause });
    }
  });
}

/** A fault that was missed struck nothing. */
const struck = (results: readonly Result[]): Result[] =>
  results.filter(({ outcome }) => outcome !== "missed");
const lost = (results: readonly Result[]): number =>
  results.filter(({ outcome }) => outcome === "lost").length;

export function table(results: readonly Result[]): string {
  const cell = (type: string, operation: Operation, kind: Kind): string => {
    const own = struck(results).filter(
      (r) => r.type === type && r.operation === operation && r.kind === kind,
    );
    return own.length === 0 ? "–" : `${own.length}/${own.length - lost(own)}/${lost(own)}`;
  };
  const types = [...new Set(results.map(({ type }) => type))];
  const rows = types.flatMap((type) =>
    operations
      .filter((operation) => results.some((r) => r.type === type && r.operation === operation))
      .map((operation) => [type, operation, ...kinds.map((kind) => cell(type, operation, kind))]),
  );
  const head = ["type", "operation", ...kinds];
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Injected/survived/lost, what each column is, and the sum. */
export const legend = (): string =>
  ["Each cell: injected/survived/lost.", ...kinds.map((kind) => `${kind}: ${kindsSay[kind]}.`)].join("\n");

export function sum(results: readonly Result[]): string {
  const all = struck(results);
  return `faults: ${all.length} injected, ${all.length - lost(all)} survived, ${lost(all)} lost`;
}

export const isGood = (results: readonly Result[]): boolean =>
  struck(results).length > 0 && lost(results) === 0;
