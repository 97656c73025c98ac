import type { PlanNote } from "./plan-note.ts";
import type { OnHost, ResourceType } from "./resource.ts";
import type { Plain } from "./values.ts";

/** What goes with every call of the lifecycle: whose it is, how it reports, the settings for the whole provider. */

// biome-ignore lint/suspicious/noExplicitAny: each type keeps its own inputs and observations; the registry holds them all.
export type AnyType = ResourceType<any, any>;
export type Inputs = OnHost & Plain;

/** What the engine is told beside the answer: `status` lines are replaced by the next one. */
export type Report = (severity: "info" | "warning" | "status", message: string) => void;

/** Settings for the whole provider, from the stack's configuration: `storagelab:readOnly: true`. */
export const providerSettings = {
  showCommands: "Previews list the commands that up would run.",
  readOnly: "Nothing is changed on any host.",
  destroyProtection: "Nothing is deleted or replaced.",
} as const;
/** Beside them `storagelab:forget: HOST,HOST`: these hosts are gone for good, and with them what was on them. */
export type ProviderSettings = { [K in keyof typeof providerSettings]: boolean } & {
  forget?: readonly string[];
};

/** The settings in a stack's configuration, keys without `storagelab:`. */
export function settingsFrom(given: Plain): ProviderSettings {
  const on = (key: keyof typeof providerSettings): boolean => String(given[key]) === "true";
  return {
    showCommands: on("showCommands"),
    readOnly: on("readOnly"),
    destroyProtection: on("destroyProtection"),
    ...(given.forget !== undefined && {
      forget: String(given.forget)
        .split(",")
        .map((name) => name.trim()),
    }),
  };
}

export type Context = {
  /** `project/stack`: the mark of what this stack makes. */
  readonly owner: string;
  readonly report: Report;
  readonly urn: string;
  /** Paths of the inputs that are secret, beside those that the type's schema says. */
  readonly secrets?: readonly string[];
  /** Takes what a preview planned; with it, what is refused is noted and is no error. */
  readonly note?: ((note: PlanNote) => void) | undefined;
};
