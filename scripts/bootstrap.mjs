import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The way from any Node (20 and later) to the project's own, a package of node_modules that runs TypeScript.
 * Plain JavaScript, since it runs before anything is installed.
 */

const project = fileURLToPath(new URL("..", import.meta.url));
const node = join(project, "node_modules/node/bin/node");

/** Whether node_modules holds what package-lock.json says; by content, as times change with every checkout. */
export function installed(folder = project) {
  try {
    accessSync(join(folder, "node_modules/node/bin/node"), constants.X_OK);
    const packages = (file) => JSON.parse(readFileSync(join(folder, file), "utf8")).packages;
    const there = packages("node_modules/.package-lock.json");
    return Object.entries(packages("package-lock.json")).every(
      ([path, wanted]) => path === "" || wanted.optional || there[path]?.version === wanted.version,
    );
  } catch {
    return false;
  }
}

/** npm ci, one at a time: who waited for the lock looks again first. */
function install() {
  console.log("Installing the project's packages: npm ci");
  const start = Date.now();
  const { status, error } = spawnSync(
    "flock",
    [join(project, "package-lock.json"), process.execPath, fileURLToPath(import.meta.url)],
    { cwd: project, stdio: "inherit" },
  );
  if (error || status !== 0) {
    console.error(`npm ci failed in ${project}; run it there by hand to see more, then try again`);
    process.exit(1);
  }
  console.log(`Installed the project's packages (${Math.round((Date.now() - start) / 1000)} s)`);
}

/** Runs a TypeScript program of this folder with the arguments of this process. */
export async function run(program) {
  if (!installed()) install();
  const script = fileURLToPath(new URL(program, import.meta.url));
  if (Number(process.versions.node.split(".")[0]) >= 24) {
    await import(script);
    return;
  }
  const child = spawn(node, [script, ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal sends its signals to the child as well; those sent to this process alone are handed on.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    if (signal) process.removeAllListeners(signal);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code ?? 1);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !installed()) {
  const { status } = spawnSync("npm", ["ci", "--loglevel=error"], { cwd: project, stdio: "inherit" });
  process.exit(status ?? 1);
}
