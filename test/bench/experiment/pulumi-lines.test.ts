import assert from "node:assert/strict";
import { test } from "node:test";
import { reasonOf, watching } from "../../../bench/experiment/pulumi-lines.ts";
import { recorded } from "../../recorded.ts";

const printed = recorded("pulumi-up--interrupted--3.276.0");

test("what is shown of an up: what is done to which resource, once", () => {
  const shown = printed
    .split("\n")
    .map(watching())
    .filter((line) => line !== undefined);
  assert.deepEqual(shown.slice(0, 2), [
    "Updating (lab-raidz1):",
    "initiator: describe the virtual machine initiator",
  ]);
  assert.ok(
    shown.includes(
      "benchmark: 0:59  3/6 iscsi-smoke-read-512k-d16-j1-1: 20.3 MB/s, busiest core: initiator 0 at 66 %, storage 0 at 68 %, 1:00 left",
    ),
  );
  // What the benchmark said comes at the end once more.
  assert.equal(shown.filter((line) => line.includes("0:59  3/6")).length, 1);
  assert.deepEqual(shown.slice(-3), [
    'benchmark: failed: error: signal: SIGKILL: running "exec node_modules/.bin/node bench/main.ts run":',
    "storage-lab-lab-raidz1: error: update failed",
    "storage-lab-lab-raidz1: failed: 1 error",
  ]);
  for (const line of shown) assert.doesNotMatch(line, /^@|^$|Diagnostics|Resources|creating \(/);
});

test("the next step is shown again", () => {
  const shown = [
    "Outputs:",
    "a: 1",
    "Destroying (lab):",
    " -  storagelab:zfs:Pool tank deleting (1s) destroy pool tank",
  ].map(watching());
  assert.deepEqual(shown, [undefined, undefined, "Destroying (lab):", "tank: destroy pool tank"]);
});

test("why it failed, with the last words of a program that it ran", () => {
  const [first = "", ...more] = reasonOf(printed).split("\n");
  assert.equal(first, 'signal: SIGKILL: running "exec node_modules/.bin/node bench/main.ts run":');
  assert.equal(more.length, 3);
  assert.match(more[2] ?? "", /^0:59 {2}3\/6 iscsi-smoke-read/);
  const disk = [
    " +  storagelab:zfs:Pool tank creating (3s) error: disk by-id/x is not there",
    " +  storagelab:zfs:Pool tank **creating failed** error: disk by-id/x is not there",
    "Diagnostics:",
    "  pulumi:pulumi:Stack (storage-lab-lab):",
    "    error: update failed",
  ].join("\n");
  assert.equal(reasonOf(disk), "disk by-id/x is not there");
  assert.equal(reasonOf("one\ntwo\n\nthree\nfour\nfive\nsix\n"), "two\nthree\nfour\nfive\nsix");
  assert.equal(reasonOf("error: update failed"), "error: update failed");
});
