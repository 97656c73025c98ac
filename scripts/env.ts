import { exportLines } from "./environment.ts";

/** eval "$(npm run -s env)": then plain `pulumi` works in that shell. */
console.log(exportLines().join("\n"));
