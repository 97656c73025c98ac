import type { Scenario } from "./scenario.ts";
import { serving } from "./scenarios/serving.ts";
import { using } from "./scenarios/using.ts";
import { zfs } from "./scenarios/zfs.ts";

/** One for each resource type of provider/registry.ts. */
export const scenarios: readonly Scenario[] = [...zfs, ...serving, ...using];
