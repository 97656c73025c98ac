import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError } from "../../../../provider/errors.ts";
import { parseGrep } from "../../../../provider/files.ts";
import {
  type InitiatorInputs,
  parseInitiatorName,
  initiator as type,
} from "../../../../provider/resources/iscsi/initiator.ts";
import { parseSessions } from "../../../../provider/resources/iscsi/sessions.ts";
import type { Step } from "../../../../provider/step.ts";
import { fakeHost, recorded, type Told } from "../../../recorded.ts";

const inputs: InitiatorInputs = {
  host: { name: "initiator", ssh: "initiator" },
  name: "iqn.2026-09.com.example.lab:initiator",
};
const file = "/etc/iscsi/initiatorname.iscsi";
const kept = `${file}.before-storage-lab`;
const files = `grep -aHZ '' ${file} ${kept}`;
const sessionsLine =
  "find /sys/class/iscsi_session /sys/class/iscsi_connection -mindepth 1 -maxdepth 1 -exec grep -raHZ " +
  "--include=targetname --include=state --include=ifacename --include=initiatorname --include=persistent_address " +
  "--include=persistent_port '' '{}' +";
const noModule = {
  status: 1,
  stderr: "find: '/sys/class/iscsi_session': No such file or directory\n",
};
const told = (text: string | undefined, sessions: Told = noModule): Record<string, Told> => ({
  [files]:
    text === undefined
      ? { status: 2, stderr: `grep: ${file}: No such file or directory\n` }
      : text.replaceAll(/^(?=.)/gm, `${file}\0`),
  [sessionsLine]: sessions,
});
const debian = "## DO NOT EDIT OR REMOVE THIS FILE!\nInitiatorName=iqn.1993-08.org.debian:01:6b5d8f9c1a\n";
const ours = `# Written by storage-lab for lab/test.\nInitiatorName=${inputs.name}\n`;

type Observed = Parameters<typeof type.exists>[0];
const observe = (answers: Record<string, Told>): Promise<Observed> =>
  type.observe(fakeHost(answers, "initiator"), inputs);
const plan = (desired: InitiatorInputs | undefined, observed: Observed): Step[] =>
  type.plan(desired, observed, inputs, "lab/test");
const refusals = (desired: InitiatorInputs | undefined, observed: Observed): string[] =>
  type.refusals?.(desired, observed, inputs, "lab/test") ?? [];
const stop = "systemctl stop iscsid.service";
const lines = (steps: Step[]): string[] =>
  steps.map((step) =>
    "argv" in step ? step.argv.join(" ") : "file" in step ? `write ${step.file}` : step.say,
  );

describe("the initiator's name", () => {
  test("is read with the sessions, in one go", async () => {
    const host = fakeHost(told(debian));
    const observed = await type.observe(host, inputs);
    assert.deepEqual(host.asked, [files, sessionsLine]);
    assert.equal(observed.name, "iqn.1993-08.org.debian:01:6b5d8f9c1a");
    assert.equal(type.exists(observed), false, "a name that the package made is not ours");
    await assert.rejects(
      observe({ ...told(debian), [sessionsLine]: { status: 1, stderr: "find: x: denied" } }),
      CommandError,
    );
  });

  test("is written with the former one kept, and read by iscsid", async () => {
    const steps = plan(inputs, await observe(told(debian)));
    assert.deepEqual(lines(steps), [`write ${kept}`, stop, `write ${file}`]);
    assert.deepEqual(steps[2], {
      say: `name this initiator ${inputs.name}`,
      file,
      text: ours,
      mode: "600",
    });
    assert.deepEqual(lines(plan(inputs, await observe(told(undefined)))), lines(steps).slice(1));
  });

  test("is left alone where it is as declared", async () => {
    const observed = await observe(told(ours));
    assert.equal(type.exists(observed), true);
    assert.deepEqual(plan(inputs, observed), []);
    assert.deepEqual(type.current(observed, inputs), inputs);
  });

  test("deleted, the former one comes back; without one there is none, as before", async () => {
    const observed = await observe(told(ours));
    assert.deepEqual(lines(plan(undefined, observed)), [stop, `rm -f ${file}`]);
    const before = { ...observed, before: debian };
    assert.deepEqual(lines(plan(undefined, before))[1], `mv -f ${kept} ${file}`);
    assert.deepEqual(plan(undefined, await observe(told(debian))), [], "a file that is not ours stays");
  });

  test("stays while a session is logged in, which is named", async () => {
    const sessions = recorded("grep--iscsi-sessions--linux-6.12");
    const busy = await observe(told(ours, sessions));
    assert.deepEqual(refusals(inputs, busy), []);
    const other = { ...inputs, name: "iqn.2026-09.com.example.lab:other" };
    assert.equal(
      refusals(other, busy)[0],
      `the initiator's name on initiator can't change from ${inputs.name} to ${other.name} while it is logged in to ` +
        "iqn.2026-09.com.example.lab:tank at 10.10.10.1:3261 (session 2), " +
        "iqn.2026-09.com.example.lab:tank at 10.10.10.1:3260 (session 1): log out first",
    );
    assert.match(refusals(undefined, busy)[0] ?? "", /to the former one while it is logged in/);
  });

  test("that is as declared by another hand is taken as it is, and stays", async () => {
    const theirs = debian.replace("iqn.1993-08.org.debian:01:6b5d8f9c1a", inputs.name);
    const observed = await observe(told(theirs));
    assert.equal(type.exists(observed), true);
    assert.equal(type.owner?.(observed, "lab/test"), "lab/test");
    assert.deepEqual(plan(inputs, observed), []);
    assert.deepEqual(plan(undefined, observed), []);
  });

  test("is its stack's that wrote it; the file says so", async () => {
    assert.equal(type.owner?.(await observe(told(ours)), "lab/other"), "lab/test");
    const older = ours.replace(" for lab/test", "");
    assert.equal(type.owner?.(await observe(told(older)), "lab/other"), "lab/other");
  });

  test("is imported, whoever wrote it", async () => {
    const least = type.named?.(inputs.host, "initiator");
    assert.ok(least);
    assert.equal(type.named?.(inputs.host, "tank"), undefined);
    const observed = await type.observe(fakeHost(told(debian)), least);
    assert.equal(type.exists(observed), true);
    const found = type.found?.(observed, least);
    assert.deepEqual(found, { ...inputs, name: "iqn.1993-08.org.debian:01:6b5d8f9c1a" });
    assert.deepEqual(plan(found, observed), []);
    assert.equal(type.exists(await type.observe(fakeHost(told(undefined)), least)), false);
  });

  test("two machines cloned from one image: each gets the name that is declared for it, before its logins", async () => {
    // What a login takes is what iscsid read when it started: none that knows the former name is left.
    const steps = lines(plan(inputs, await observe(told(debian))));
    assert.ok(steps.indexOf(stop) < steps.indexOf(`write ${file}`));
  });

  test("parsers know the file's words and no others", () => {
    assert.equal(parseInitiatorName("InitiatorAlias=x\nInitiatorName=iqn.a\n\n"), "iqn.a");
    assert.equal(parseInitiatorName("GenerateName=yes\n"), undefined);
    assert.throws(() => parseInitiatorName("Initiator=x"), /not of the known form: Initiator=x/);
    assert.equal(parseSessions(parseGrep(recorded("grep--iscsi-sessions--linux-6.12"))).length, 2);
  });

  test("rules", () => {
    assert.deepEqual(type.rules?.(inputs), []);
    assert.equal(type.rules?.({ ...inputs, name: "my_host" })[0]?.[0], "name");
  });
});
