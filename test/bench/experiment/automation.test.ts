import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { byLine, pulumiLabs } from "../../../bench/experiment/automation.ts";
import { BusyError } from "../../../bench/experiment/experiment.ts";
import { project } from "../../../scripts/environment.ts";

/**
 * Pulumi's Automation API against a program that knows the few commands which an experiment may use, is strict about
 * all others, and notes how it was called, of which session it is, and what it is asked for.
 */

const root = mkdtempSync(join(tmpdir(), "storage-lab-experiment-"));
const calls = join(root, "calls");
const own = join(root, "project");

const program = `#!/bin/sh
# proc_pid_stat(5): the fourth field after the name is the session.
note() {
  read -r stat < /proc/$$/stat
  set -- "$1" "\${stat##*) }"
  set -- "$1" $2
  echo "$1 session:$([ "$5" = $$ ] && echo own || echo "$5") asked:$STORAGE_LAB_EXPERIMENT" >> ${calls}
}
case "$*" in
  version) echo v3.276.0 ;;
  "stack ls --json --non-interactive") echo '[{"name":"lab","current":false},{"name":"other","current":true}]' ;;
  "stack export --show-secrets --stack lab --non-interactive")
    echo '{"version":3,"deployment":{"resources":[{"type":"pulumi:pulumi:Stack"},{"type":"pulumi:providers:storagelab"}]}}' ;;
  up\\ *)
    note "$*"
    case $(cat ${root}/mood) in
      fine) printf 'one line\\ntwo '; printf 'halves\\n' ;;
      fails) echo 'error: pool tank: disk x is not there'; echo 'error: update failed' >&2; exit 255 ;;
      busy) echo 'error: the stack is currently locked by 1 lock(s)' >&2; exit 255 ;;
      waits) trap 'echo "interrupted" >> ${calls}; exit 255' INT
        echo begun
        while :; do sleep 0.05; done ;;
    esac ;;
  destroy\\ *) note "$*" ;;
  "stack output --json --stack lab --non-interactive"|"stack output --json --show-secrets --stack lab --non-interactive")
    cat ${root}/outputs ;;
  "stack history --json --page-size 1 --page 1 --stack lab --non-interactive"|"stack history "*) echo '[]' ;;
  *) echo "strange: $*" >> ${calls}; exit 1 ;;
esac
`;

const { PATH, PULUMI_BACKEND_URL } = process.env;
before(() => {
  mkdirSync(join(root, "bin"));
  mkdirSync(own);
  writeFileSync(join(root, "bin/pulumi"), program);
  chmodSync(join(root, "bin/pulumi"), 0o755);
  writeFileSync(join(own, "Pulumi.yaml"), readFileSync(join(project, "Pulumi.yaml")));
  process.env.PATH = `${join(root, "bin")}${delimiter}${PATH}`;
  process.env.PULUMI_BACKEND_URL = `file://${own}/.state`;
});
after(() => {
  process.env.PATH = PATH;
  if (PULUMI_BACKEND_URL === undefined) delete process.env.PULUMI_BACKEND_URL;
  else process.env.PULUMI_BACKEND_URL = PULUMI_BACKEND_URL;
  rmSync(root, { recursive: true });
});
beforeEach(() => {
  rmSync(calls, { force: true });
  writeFileSync(join(root, "outputs"), '{"rawFolder":"results/lab/1"}');
});
const mood = (word: string): void => writeFileSync(join(root, "mood"), word);
const called = (): string[] => (existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : []);

const asked = { occasion: "1", benchmark: { workload: "smoke" } };
const lab = async (heard: string[] = [], signal = new AbortController().signal) =>
  await pulumiLabs(own, signal)("lab", asked, (line) => heard.push(line));

test("up in a session of its own, with the experiment in its environment; no stack is selected or configured", async () => {
  mood("fine");
  const heard: string[] = [];
  const its = await lab(heard);
  assert.equal(await its.stands(), false);
  assert.equal(await its.up(), "results/lab/1");
  assert.deepEqual(heard, ["one line", "two halves"]);
  await its.destroy();
  const [up = "", destroy = "", ...more] = called();
  assert.match(up, /^up --yes --skip-preview .*--stack lab/);
  assert.ok(up.endsWith(`session:own asked:${JSON.stringify(asked)}`), up);
  assert.match(destroy, /^destroy --yes .*--stack lab.* session:own /);
  assert.deepEqual(more, []);
  // The stack file is not there, and nothing has made it.
  assert.equal(existsSync(join(own, "Pulumi.lab.yaml")), false);
});

test("what fails is told by Pulumi's own reason; a lab without a result has failed", async () => {
  mood("fails");
  await assert.rejects((await lab()).up(), { message: "pool tank: disk x is not there" });
  mood("fine");
  writeFileSync(join(root, "outputs"), "{}");
  await assert.rejects((await lab()).up(), { message: "the stack has no result among its outputs" });
});

test("a stack that another Pulumi works on is busy, not failed", async () => {
  mood("busy");
  await assert.rejects((await lab()).up(), BusyError);
});

test("an interruption reaches Pulumi, once", async () => {
  mood("waits");
  const interruption = new AbortController();
  const heard: string[] = [];
  const its = await pulumiLabs(own, interruption.signal)("lab", asked, (line) => {
    heard.push(line);
    interruption.abort("SIGINT");
  });
  await assert.rejects(its.up());
  assert.deepEqual(heard, ["begun"]);
  assert.deepEqual(
    called().filter((line) => line === "interrupted"),
    ["interrupted"],
  );
});

test("a stack that is not there is named, with the way to make it", async () => {
  await assert.rejects(
    pulumiLabs(own, new AbortController().signal)("none", asked, () => {}),
    {
      message: "no stack none in this backend; make it by: npm run -s pulumi -- stack init none",
    },
  );
});

test("lines are whole, however they arrive", () => {
  const heard: string[] = [];
  const hear = byLine((line) => heard.push(line));
  for (const piece of ["a", "b\nc\n", "\nd", ""]) hear(piece);
  assert.deepEqual(heard, ["ab", "c", ""]);
});
