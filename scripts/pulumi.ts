import { explain } from "./explain.ts";
import { runPulumi } from "./run-pulumi.ts";

/** npm run -s pulumi -- ARGS: Pulumi with the project's toolchain and state. */
process.exitCode = await runPulumi(process.argv.slice(2)).catch(explain);
