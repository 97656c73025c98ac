import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { project } from "../../scripts/environment.ts";

const { installed } = (await import(join(project, "scripts/bootstrap.mjs"))) as {
  installed: (folder: string) => boolean;
};

type Packages = Record<string, { version: string; optional?: boolean }>;

function folder(lock: Packages, there?: Packages): string {
  const root = mkdtempSync(join(tmpdir(), "storage-lab-modules-"));
  writeFileSync(
    join(root, "package-lock.json"),
    JSON.stringify({ packages: { "": { version: "1.0.0" }, ...lock } }),
  );
  mkdirSync(join(root, "node_modules/node/bin"), { recursive: true });
  if (there === undefined) return root;
  writeFileSync(join(root, "node_modules/.package-lock.json"), JSON.stringify({ packages: there }));
  writeFileSync(join(root, "node_modules/node/bin/node"), "");
  chmodSync(join(root, "node_modules/node/bin/node"), 0o755);
  return root;
}

test("node_modules is compared with package-lock.json by content", () => {
  const lock = { "node_modules/zod": { version: "4.6.7" } };
  assert.equal(installed(folder(lock, lock)), true);
  assert.equal(installed(folder(lock, { "node_modules/zod": { version: "4.6.6" } })), false);
  assert.equal(installed(folder(lock, {})), false);
});

test("an interrupted npm ci leaves no list, and counts as nothing", () => {
  assert.equal(installed(folder({})), false);
});

test("what is optional may be missing: it is for other systems", () => {
  assert.equal(
    installed(folder({ "node_modules/@esbuild/win32-x64": { version: "1.0.0", optional: true } }, {})),
    true,
  );
});
