import type { PlanNote } from "../provider/plan-note.ts";
import { type Effect, effects } from "../provider/step.ts";
import { urnParts } from "../provider/urn.ts";

/** A preview as a Markdown page for a pull request: what changes, of what class, by which commands, what is refused. */

/** What the engine plans for one resource. */
export type Operation = { urn: string; op: string };

export type Review = {
  stack: string;
  operations: readonly Operation[];
  notes: readonly PlanNote[];
  /** Warnings of the preview, such as a host that could not be asked. */
  warnings: readonly string[];
};

type Class = "online" | Effect;

/** One resource that would change, or whose change is refused. */
export type Row = {
  object: string;
  does: string;
  values: PlanNote["values"];
  class: Class | "not known";
  note: PlanNote | undefined;
};

/** Steps of the engine that are parts of a replace, of which one is shown. */
const parts = new Set(["create-replacement", "delete-replaced"]);
const quiet = new Set(["same", "refresh", "read"]);

export function rowsOf({ operations, notes }: Pick<Review, "operations" | "notes">): Row[] {
  const noteOf = merged(notes);
  const planned = operations
    .filter(({ op }) => !quiet.has(op) && !parts.has(op))
    .filter(({ urn }) => !isComponent(urn))
    .map(({ urn, op }): Row => {
      const note = noteOf.get(urn);
      return {
        object: note?.object ?? `${typeOf(urn)} ${urnParts(urn).name}`,
        does: note?.does ?? op,
        values: note?.values ?? [],
        class: note === undefined ? classOfOther(urn) : classOf(note),
        note,
      };
    });
  const known = new Set(operations.filter(({ op }) => !quiet.has(op)).map(({ urn }) => urn));
  const refused = [...noteOf.values()]
    .filter(({ urn, refused }) => refused !== undefined && !known.has(urn))
    .map(
      (note): Row => ({
        object: note.object,
        does: note.does,
        values: note.values,
        class: classOf(note),
        note,
      }),
    );
  return [...planned, ...refused];
}

/** One note a resource: of a replace, the delete and then its successor's create. */
function merged(notes: readonly PlanNote[]): Map<string, PlanNote> {
  const found = new Map<string, PlanNote>();
  for (const note of notes) {
    const first = found.get(note.urn);
    found.set(
      note.urn,
      first === undefined
        ? note
        : {
            ...note,
            ...first,
            steps: [...first.steps, ...note.steps],
            hints: [...first.hints, ...note.hints],
            ...(note.refused !== undefined && { refused: note.refused }),
          },
    );
  }
  return found;
}

/** Components and the stack itself group resources; nothing of theirs is on a host. */
const isComponent = (urn: string): boolean =>
  /^(storage-lab:lab:|pulumi:pulumi:Stack|pulumi:providers:)/.test(typeOf(urn));
const typeOf = (urn: string): string => urnParts(urn).type;

/** The worst that any of its steps does. */
function classOf({ steps }: PlanNote): Class {
  const found = steps.flatMap(({ effect }) => (effect === undefined ? [] : [effect]));
  return effects.filter((effect) => found.includes(effect)).at(-1) ?? "online";
}

/** A command of the benchmark changes nothing on the storage; of what could not be looked at nothing is known. */
const classOfOther = (urn: string): Row["class"] =>
  typeOf(urn).startsWith("storagelab:") ? "not known" : "online";

const worst = (rows: readonly Row[]): Row["class"] =>
  (["online", "not known", ...effects] as const).filter((c) => rows.some((row) => row.class === c)).at(-1) ??
  "online";

/** 0: nothing would change; 2: something would; 3: something is refused. */
export const statusOf = (rows: readonly Row[]): 0 | 2 | 3 =>
  rows.some(({ note }) => note?.refused !== undefined) ? 3 : rows.length > 0 ? 2 : 0;

export function page({ stack, operations, notes, warnings }: Review): string {
  const rows = rowsOf({ operations, notes });
  const refused = rows.flatMap(({ note }) => (note?.refused === undefined ? [] : [note]));
  const changing = rows.filter(({ note }) => note?.refused === undefined);
  const same = operations.filter(({ op, urn }) => op === "same" && !isComponent(urn)).length;
  const sum = [
    changing.length === 0
      ? "Nothing would change"
      : `${changing.length} would change (at worst: ${worst(changing)})`,
    ...(refused.length > 0 ? [`${refused.length} refused`] : []),
    `${same} ${same === 1 ? "stays" : "stay"}`,
  ];
  return [
    `# Review of stack ${stack}`,
    `${sum.join(", ")}.`,
    ...(changing.length === 0 ? [] : ["## Changes", changesTable(changing)]),
    ...(refused.length === 0 ? [] : ["## Refused", refused.map(refusal).join("\n")]),
    ...said("## To know before", [
      ...changing.flatMap(({ object, note }) => (note?.hints ?? []).map((hint) => `${object}: ${hint}`)),
      ...warnings,
    ]),
    ...commands(changing),
  ].join("\n\n");
}

function changesTable(rows: readonly Row[]): string {
  const lines = rows.map(({ object, does, values, class: what }) => {
    const changed = values.map(
      ({ path, before, after }) => `${cell(path)}: ${code(before)} → ${code(after)}`,
    );
    return `| ${cell(object)} | ${does} | ${changed.join("<br>")} | ${what === "online" ? what : `**${what}**`} |`;
  });
  return ["| object | change | values | class |", "|---|---|---|---|", ...lines].join("\n");
}

const refusal = ({ object, does, refused = "" }: PlanNote): string => {
  const said = refused.startsWith(object) ? refused.slice(object.length).replace(/^: /, "") : refused;
  return `- **${cell(object)}** (${does}): ${said.trim().replaceAll("\n", "\n  ")}`;
};

const said = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, lines.map((line) => `- ${line.replaceAll("\n", "\n  ")}`).join("\n")];

function commands(rows: readonly Row[]): string[] {
  const hosts = new Map<string, string[]>();
  for (const { note } of rows) {
    if (note === undefined || note.steps.length === 0) continue;
    const lines = [`# ${note.object}: ${note.does}`, ...note.steps.map(({ line }) => line)];
    hosts.set(note.host, [...(hosts.get(note.host) ?? []), lines.join("\n")]);
  }
  return [...hosts].flatMap(([host, plans]) => {
    const text = plans.join("\n\n");
    const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
    return [`## Commands on ${host}`, `${fence}sh\n${text}\n${fence}`];
  });
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const code = (text: string): string =>
  ["nothing", "known when it is made anew"].includes(text) ? text : `\`${cell(text).replaceAll("`", "'")}\``;
