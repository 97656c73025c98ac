import { run } from "./bootstrap.mjs";

await run("pulumi.ts");
