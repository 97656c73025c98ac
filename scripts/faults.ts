import { main } from "../test/faults/main.ts";
import { project } from "./environment.ts";
import { explain } from "./explain.ts";
import { setUp } from "./setup.ts";

/** npm run faults -- [OPTIONS]: strikes every step of every resource type on the virtual lab. */
async function faults(): Promise<number> {
  const argv = process.argv.slice(2);
  if (!argv.some((argument) => argument.startsWith("--table") || argument === "--help"))
    await setUp({ stacks: false });
  return main(argv, project);
}

process.exit(await faults().catch(explain));
