import { metricsOf } from "../metrics.ts";
import type { Result } from "../schema/result.ts";

/**
 * A result for spreadsheets and statistics, by RFC 4180: CRLF, quotes where they are needed. One row a run and metric,
 * values exact and unrounded; an invalid run has one row with its reason in `invalid` and no value. Columns that a kind
 * of test doesn't have are empty.
 */
const columns = [
  ...[
    "stack",
    "virtual",
    "started",
    "run",
    "protocol",
    "workload",
    "test",
    "kind",
    "operation",
    "block_size",
  ],
  ...["depth", "jobs", "clients", "repeat", "valid", "invalid", "metric", "value", "unit"],
] as const;

export function csv({ stack, virtual, started, runs }: Result): string {
  const rows = runs.flatMap((run) => {
    const { id, protocol, repeat, test } = run.spec;
    const isFio = test.kind === "fio";
    const which = [
      ...[stack, virtual, started, id, protocol, test.workload, test.test, test.kind],
      ...(isFio ? [test.operation, test.blockSize, test.depth, test.jobs] : ["", "", "", ""]),
      ...[run.valid ? run.clients.length : "", repeat, run.valid],
    ];
    if (!run.valid) return [[...which, run.invalid, "", "", ""]];
    return metricsOf(run).map(({ metric, value, unit }) => [...which, "", metric, value, unit]);
  });
  return [columns, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

/**
 * A spreadsheet takes text that begins with = + - @ for a formula, and runs it: such text gets an apostrophe before
 * it, as spreadsheets themselves write text. Numbers are left as they are.
 */
function field(value: string | number | boolean): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
