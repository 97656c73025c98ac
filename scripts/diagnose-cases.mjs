import { run } from "./bootstrap.mjs";

await run("diagnose-cases.ts");
