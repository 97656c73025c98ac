import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { addressIn } from "../../provider/host-of-stack.ts";

const project = mkdtempSync(join(tmpdir(), "storage-lab-"));
after(() => rmSync(project, { recursive: true }));
writeFileSync(
  join(project, "Pulumi.real.yaml"),
  "config:\n  storage-lab:hosts:\n    a: {ssh: root@a}\n    b: {ssh: me@b, sudo: true}\n    c: {virtual: {}}\n",
);

test("a host is where the stack file says", async () => {
  assert.deepEqual(await addressIn("real", "a", project), { name: "a", ssh: "root@a" });
  assert.deepEqual(await addressIn("real", "b", project), { name: "b", ssh: "me@b", sudo: true });
  assert.deepEqual(await addressIn("real", "local", project), { name: "local", ssh: "local" });
});

test("a host of the base, where the stack file leaves its hosts out", async () => {
  writeFileSync(join(project, "Pulumi.like.yaml"), "config:\n  storage-lab:base: real\n");
  assert.deepEqual(await addressIn("like", "a", project), { name: "a", ssh: "root@a" });
});

test("a virtual host is its machine's folder, once it is there", async () => {
  await assert.rejects(addressIn("real", "c", project), /host c is a virtual machine that is not there yet/);
  mkdirSync(join(project, ".lab/real/c"), { recursive: true });
  assert.deepEqual(await addressIn("real", "c", project), {
    name: "c",
    ssh: "c",
    config: ".lab/real/c/ssh_config",
    machine: ".lab/real/c",
  });
});

test("a host that the stack file does not have is refused with those that it has", async () => {
  await assert.rejects(addressIn("real", "d", project), {
    name: "RefusedError",
    message: "Pulumi.real.yaml has no host d; its hosts are a, b, c",
  });
  await assert.rejects(addressIn("none", "a", project), /Pulumi\.none\.yaml/);
});
