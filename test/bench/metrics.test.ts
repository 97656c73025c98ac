import assert from "node:assert/strict";
import { test } from "node:test";
import { metricsOf, seriesOf } from "../../bench/metrics.ts";
import type { ValidRun } from "../../bench/schema/result.ts";
import { exampleResult } from "./example.ts";

const [first] = exampleResult().runs;
const names = (run: ValidRun): string[] => metricsOf(run).map(({ metric }) => metric);
const clat = ["clat median", "clat p99", "clat p99.9"];

test("a run's figures by name, each with what is better", () => {
  assert.ok(first?.valid);
  assert.deepEqual(names(first), ["bandwidth", "IOPS", ...clat]);
  for (const { metric, better } of metricsOf(first))
    assert.equal(better, metric.startsWith("clat") ? "lower" : "higher");
  const side = first.read ?? first.write;
  assert.ok(side?.clat);
  const mixed = metricsOf({ ...first, read: side, write: { ...side, sync: side.clat } });
  assert.deepEqual(
    mixed.map(({ metric }) => metric),
    [
      ...["bandwidth", "IOPS", ...clat].map((metric) => `read ${metric}`),
      ...["bandwidth", "IOPS", ...clat, "sync median", "sync p99"].map((metric) => `write ${metric}`),
    ],
  );
});

test("a series is a run without its repeat", () => {
  const of = (id: string) => seriesOf({ spec: { id } as ValidRun["spec"] });
  assert.equal(of("iser-random-read-iops-4k-d32-j4-2"), "iser-random-read-iops-4k-d32-j4");
  assert.equal(of("iser-io500-io500-12"), "iser-io500-io500");
});
