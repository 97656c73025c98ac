import { run } from "./bootstrap.mjs";

await run("env.ts");
