import { run } from "./bootstrap.mjs";

await run("measure.ts");
