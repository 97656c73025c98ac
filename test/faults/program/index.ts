import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import * as resources from "../../../components/resources.ts";
import type { Declared } from "../scenario.ts";

/** Declares what `.faults/STACK.json` lists, each after the one before it. */

const file = new URL(`../../../.faults/${pulumi.getStack()}.json`, import.meta.url);
const declared = JSON.parse(readFileSync(file, "utf8")) as Declared[];

type Class = new (
  name: string,
  inputs: unknown,
  options: pulumi.CustomResourceOptions,
) => pulumi.CustomResource;
const classes = resources as unknown as Record<string, Class | undefined>;

let before: pulumi.CustomResource[] = [];
for (const { name, type, inputs } of declared) {
  const kind = type.split(":")[1] ?? "";
  const Resource = classes[kind];
  if (Resource === undefined) throw new pulumi.RunError(`components/resources.ts has no class ${kind}`);
  before = [new Resource(name, inputs, { dependsOn: before })];
}
