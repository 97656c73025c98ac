import manifest from "../package.json" with { type: "json" };
import { types } from "./registry.ts";

/**
 * The package's Pulumi schema: the types' tokens, so that the engine knows them.
 * Inputs are checked by the types' own schemas, so properties are left open here.
 */
export const schema = () => ({
  name: "storagelab",
  version: manifest.version,
  resources: Object.fromEntries(
    types.map((type) => [`storagelab:${type.type}`, { inputProperties: {}, properties: {} }]),
  ),
});
