import { run } from "./bootstrap.mjs";

await run("review.ts");
