import type { FioSpec } from "../../../bench/fio/argv.ts";
import type { FioTest } from "../../../bench/schema/test.ts";

/** A client's mount and a run of lab A's job, scaled down; each test changes what it is about. */

export const client = { mount: "/test", filesystem: { type: "xfs" as const, uuid: "" } };

export const fioTest = (change: Partial<FioTest> = {}): FioTest => ({
  ...{ kind: "fio", workload: "sequential", test: "write", operation: "write" },
  ...{ blockSize: 524288, depth: 16, jobs: 1, size: 268435456, runtime: 8, rampTime: 0 },
  ...{ sync: "none", readShare: null, rateIops: null, arc: "left", backstore: "volume" },
  ...change,
});

export const spec = (change: Partial<FioTest> = {}): FioSpec => ({
  ...{ id: "iscsi-sequential-write-512k-d16-j1-1", protocol: "iscsi", repeat: 1, test: fioTest(change) },
});
