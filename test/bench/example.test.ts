import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleRecording, exampleResult } from "./example.ts";

test("the example is the same at every call, and its parts agree", () => {
  assert.deepEqual(exampleResult(), exampleResult());
  for (const run of exampleResult().runs) {
    if (!run.valid) continue;
    const recording = exampleRecording(run.spec.id);
    assert.deepEqual(recording, exampleRecording(run.spec.id));
    assert.deepEqual(
      run.cpus.map(({ host, cores }) => [host, cores]),
      recording.hosts.map(({ host, cores }) => [host, cores.length]),
    );
    for (const core of recording.hosts.flatMap(({ cores }) => cores)) {
      assert.equal(core.softirq.length, 90);
      for (const [n, idle] of core.idle.entries()) {
        const sum = [core.user, core.system, core.softirq, core.iowait].reduce(
          (all, s) => all + (s[n] ?? 0),
          idle ?? 0,
        );
        assert.ok(Math.abs(sum - 100) < 0.5 || idle === 0, `${run.spec.id} core ${core.core}: ${sum}`);
        assert.ok(sum < 102, `${run.spec.id} core ${core.core}: ${sum}`);
      }
    }
  }
});
