import assert from "node:assert/strict";
import { test } from "node:test";
import { clockAhead, now } from "../../../bench/telemetry/clock.ts";
import { benchHost } from "../sample.ts";

const answering = (answer: (look: number) => Promise<string>) => {
  let looks = 0;
  return {
    ...benchHost("far", {}),
    async ask(argv: readonly string[]) {
      assert.deepEqual(argv, ["date", "+%s.%N"]);
      looks += 1;
      return { argv, status: 0, stderr: "", stdout: await answer(looks) };
    },
  };
};

test("of some looks at a clock the one with the shortest way counts", async () => {
  const host = answering(async (look) => {
    if (look !== 2) await new Promise((resolve) => setTimeout(resolve, 60));
    return `${(now() / 1000 + 3600).toFixed(9)}\n`;
  });
  const { ahead, error } = await clockAhead(host);
  assert.ok(Math.abs(ahead - 3600e3) < 20 && error < 20, `${ahead} ${error}`);
});

test("a clock that gives no time is an error that quotes it", async () => {
  const host = answering(async () => "Mon Nov 30\n");
  await assert.rejects(clockAhead(host), { message: 'date +%s.%N on far: "Mon Nov 30"' });
});
