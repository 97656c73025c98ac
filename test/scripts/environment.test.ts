import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { execa } from "execa";
import {
  cacheRoot,
  exportLines,
  ownPulumi,
  project,
  pulumiDefaults,
  pulumiEnvironment,
} from "../../scripts/environment.ts";

/** A folder with programs that do nothing. */
function programs(...names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "storage-lab-test-"));
  for (const name of names) {
    writeFileSync(join(folder, name), "#!/bin/sh\n");
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}
const bare = { HOME: "/home/ann", PATH: "/usr/bin:/bin" };

test("the cache is the operator's word, then XDG's, then ~/.cache", () => {
  assert.equal(cacheRoot({ ...bare, STORAGE_LAB_CACHE: "/big/cache", XDG_CACHE_HOME: "/xdg" }), "/big/cache");
  assert.equal(cacheRoot({ ...bare, XDG_CACHE_HOME: "/xdg" }), "/xdg/storage-lab");
  assert.equal(cacheRoot(bare), "/home/ann/.cache/storage-lab");
});

test("without settings, state is in the project and plugins are in the cache", () => {
  assert.deepEqual(pulumiDefaults(bare), {
    PULUMI_BACKEND_URL: `file://${project}/.state`,
    PULUMI_SKIP_UPDATE_CHECK: "1",
    PULUMI_CONFIG_PASSPHRASE: "storage-lab",
    PULUMI_HOME: "/home/ann/.cache/storage-lab/pulumi-home",
  });
});

test("what the operator has set stays", () => {
  const own = {
    ...bare,
    PULUMI_BACKEND_URL: "s3://states",
    PULUMI_CONFIG_PASSPHRASE: "",
    PULUMI_HOME: "/home/ann/p",
    PULUMI_SKIP_UPDATE_CHECK: "",
  };
  assert.deepEqual(pulumiDefaults(own), {});
  assert.equal(pulumiEnvironment(own).PULUMI_BACKEND_URL, "s3://states");
});

test("a passphrase file stands for a passphrase", () => {
  assert.equal(
    "PULUMI_CONFIG_PASSPHRASE" in pulumiDefaults({ ...bare, PULUMI_CONFIG_PASSPHRASE_FILE: "/p" }),
    false,
  );
});

test("the operator's own Pulumi keeps its home, if the command plugin is there", () => {
  const env = { HOME: programs(), PATH: programs("pulumi", "pulumi-language-nodejs") };
  assert.equal(pulumiDefaults(env).PULUMI_HOME, `${env.HOME}/.cache/storage-lab/pulumi-home`);
  mkdirSync(join(env.HOME, ".pulumi/plugins/resource-command-v1.2.1"), { recursive: true });
  assert.equal("PULUMI_HOME" in pulumiDefaults(env), false);
});

test("the operator's own Pulumi is taken with its language host only", () => {
  const both = programs("pulumi", "pulumi-language-nodejs");
  assert.equal(ownPulumi({ ...bare, PATH: `/bin:${both}` }), both);
  assert.equal(pulumiEnvironment({ ...bare, PATH: both }).PATH, `${project}/node_modules/.bin:${both}`);
  assert.equal(ownPulumi({ ...bare, PATH: programs("pulumi") }), undefined);
  assert.equal(ownPulumi({ ...bare, PATH: both, STORAGE_LAB_PULUMI: "project" }), undefined);
});

test("the project's own Pulumi on the PATH is not taken for the operator's", () => {
  const cache = "/home/ann/.cache/storage-lab/bin";
  assert.equal(ownPulumi({ ...bare, PATH: `${cache}:/bin` }), undefined);
  assert.equal(pulumiEnvironment(bare).PATH, `${project}/node_modules/.bin:${cache}:/usr/bin:/bin`);
});

test("the export lines survive a shell, quotes and blanks included", async () => {
  const env = { HOME: "/home/it's ann", PATH: "/usr/bin:/bin" };
  const script = `${exportLines(env).join("\n")}\nprintf '%s\\n' "$PULUMI_HOME" "$PATH"`;
  const { stdout } = await execa("sh", ["-c", script], { env, extendEnv: false });
  assert.deepEqual(stdout.split("\n"), [
    "/home/it's ann/.cache/storage-lab/pulumi-home",
    `${project}/node_modules/.bin:/home/it's ann/.cache/storage-lab/bin:/usr/bin:/bin`,
  ]);
});
