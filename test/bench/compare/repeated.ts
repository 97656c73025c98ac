import { validRuns } from "../../../bench/report/tables.ts";
import type { Result, ValidRun } from "../../../bench/schema/result.ts";
import { exampleResult } from "../example.ts";

/** The example with a bandwidth for each repeat of its first test, which is written over iSCSI. */
export function repeated(
  stack: string,
  bandwidths: readonly number[],
  overrides: Partial<Result> = {},
): Result {
  const [first] = validRuns(exampleResult().runs);
  if (!first?.write) throw new Error("the example writes first");
  const { write, spec } = first;
  const runs = bandwidths.map(
    (bandwidth, n): ValidRun => ({
      ...first,
      spec: { ...spec, repeat: n + 1, id: spec.id.replace(/\d+$/, String(n + 1)) },
      write: { ...write, bandwidth, iops: (bandwidth * 1e6) / 524288 },
    }),
  );
  return exampleResult({ stack, runs, ...overrides });
}
