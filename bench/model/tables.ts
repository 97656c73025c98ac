import { formatSize } from "../../provider/size.ts";
import type { ElementName } from "../schema/diagnosis.ts";
import { markdownTable, type Table, textTable } from "../table.ts";
import { figure, mbps } from "./element.ts";
import type { Cost } from "./layout.ts";
import type { Bound, WhatIf } from "./what-if.ts";

/** Models of stacks as tables: a column for each pool, and what to read beside it. */

const none = "–";
const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Bytes for people, to three digits: 3.62 GiB. */
export function size(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(Math.abs(bytes), 1)) / 10), units.length - 1);
  return `${figure(bytes / 1024 ** power)} ${units[power]}`;
}

const percent = (part: number, of: number): string => `${figure((100 * part) / of)} %`;

function cost(value: Cost | null): string {
  if (value === null) return none;
  const [least, most] = [figure(value.least), figure(value.most)];
  return least === most ? `× ${least}` : `× ${least} to ${most}`;
}

const time = (seconds: number): string =>
  seconds < 90 ? `about ${Math.round(seconds)} s` : `about ${Math.round(seconds / 60)} min`;

const loadWords = ({ protocol, operation, blockSize, sync }: Bound): string => {
  const how = operation.startsWith("rand") ? "random" : "sequential";
  const what = operation.endsWith("write") ? "write" : "read";
  return `${protocol === "iser" ? "iSER" : "iSCSI"}, ${how} ${what} ${formatSize(BigInt(blockSize))}${sync ? ", synchronous" : ""}`;
};

const withIops = ({ blockSize, operation }: Bound, rate: number): string =>
  operation.startsWith("rand") ? `${mbps(rate)} (${figure((rate * 1e6) / blockSize)} IOPS)` : mbps(rate);

type Line = [label: string, of: (model: WhatIf) => string];

const spaceLines: Line[] = [
  ["vdevs", ({ vdevs }) => vdevs],
  ["disks, raw", ({ space }) => (space === null ? none : size(space.raw))],
  ["pool (zpool list)", ({ space }) => (space === null ? none : size(space.size))],
  [
    "usable (zfs list)",
    ({ space }) => (space === null ? none : `${size(space.usable)}, ${percent(space.usable, space.raw)}`),
  ],
  ["its volumes take", ({ volumes }) => size(volumes)],
  ["left", ({ left }) => (left === null ? none : left < 0 ? `${size(-left)} too little` : size(left))],
  ["failures tolerated", ({ failures }) => `any ${failures.any}, at best ${failures.best}`],
  [
    "volume",
    ({ volume }) =>
      volume === null ? none : `${volume.name}, ${size(volume.size)} in blocks of ${size(volume.block)}`,
  ],
  [
    "it takes, written whole",
    ({ volume }) =>
      volume === null ? none : `${size(volume.written)}, ${percent(volume.written, volume.size)}`,
  ],
  ["writes on the data disks", ({ writes }) => cost(writes.asynchronous)],
  ["the same, synchronous", ({ writes }) => cost(writes.synchronous)],
  ["synchronous, on the SLOG", ({ writes }) => cost(writes.log)],
  [
    "random reads at once",
    ({ readsAtOnce }) => (readsAtOnce === null ? none : `as ${figure(readsAtOnce)} disks`),
  ],
];

const keyOf = (bound: Bound): string => loadWords(bound);

const short: Partial<Record<ElementName, string>> = { arc: "ARC", slog: "SLOG", hba: "HBA" };
const called = (element: ElementName): string => short[element] ?? element;

/** The element that limits first, then the others that are known, by their bounds. */
function boundWords(bound: Bound): string {
  const [first, ...others] = bound.elements
    .flatMap(({ element, bound: most }) => (most === null ? [] : [{ element, most }]))
    .sort((a, b) => a.most - b.most);
  if (first === undefined) return "not known";
  const then = others.map(({ element, most }) => `, ${called(element)} ${mbps(most)}`).join("");
  return `at most ${withIops(bound, first.most)} by the ${called(first.element)}${then}`;
}

/** For each load, the bound of each element in the path's order, and the least of them. */
function boundLines(models: readonly WhatIf[]): Line[] {
  const loads = new Map(models.flatMap(({ bounds }) => bounds.map((bound) => [keyOf(bound), bound])));
  return [...loads.keys()].map((key): Line => {
    return [
      key,
      ({ bounds }) => {
        const bound = bounds.find((one) => keyOf(one) === key);
        return bound === undefined ? none : boundWords(bound);
      },
    ];
  });
}

const needLines = (models: readonly WhatIf[]): Line[] =>
  models.some(({ needs }) => needs !== null)
    ? [
        ["need: capacity", ({ needs, space }) => verdict(needs?.capacity, space?.usable ?? null)],
        ["need: failures tolerated", ({ needs, failures }) => verdict(needs?.failures, failures.any)],
        ["need: write", ({ needs, bounds }) => reach(needs?.write, bounds, "write")],
        ["need: read, not from ARC", ({ needs, bounds }) => reach(needs?.read, bounds, "read")],
        ["need: random reads, not from ARC", ({ needs, bounds }) => reachIops(needs?.readIops, bounds)],
      ]
    : [];

function verdict(need: number | undefined, found: number | null): string {
  if (need === undefined) return none;
  return found === null ? "not known" : found >= need ? "met" : "not met";
}

/** A bound can only say that a need can't be met. */
function reach(need: number | undefined, bounds: readonly Bound[], operation: string): string {
  if (need === undefined) return none;
  const limits = bounds
    .filter((bound) => bound.operation === operation && !bound.sync)
    .flatMap(({ limit }) => (limit === null ? [] : [limit.megabytesPerSecond]));
  if (limits.length === 0) return "not known";
  const best = Math.max(...limits);
  return best < need ? `not met: at most ${mbps(best)} of ${mbps(need)}` : "not excluded; measure it";
}

/** Random 4 KiB reads a second, where the stack's benchmark has such a test. */
function reachIops(need: number | undefined, bounds: readonly Bound[]): string {
  if (need === undefined) return none;
  const limits = bounds
    .filter(({ operation, blockSize }) => operation === "randread" && blockSize === 4096)
    .flatMap(({ limit, blockSize }) =>
      limit === null ? [] : [(limit.megabytesPerSecond * 1e6) / blockSize],
    );
  if (limits.length === 0) return "not known";
  const best = Math.max(...limits);
  return best < need
    ? `not met: at most ${figure(best)} of ${figure(need)} IOPS`
    : "not excluded; measure it";
}

function tableOf(models: readonly WhatIf[]): Table {
  const lines: Line[] = [
    ...spaceLines,
    ...boundLines(models),
    ["the benchmark takes", ({ estimate }) => (estimate === null ? none : time(estimate.total))],
    ...needLines(models),
  ];
  const rows = lines
    .map(([label, of]) => [label, ...models.map(of)])
    .filter(([, ...cells]) => cells.some((cell) => cell !== none));
  return { head: ["", ...models.map(nameOf(models))], rows, words: true };
}

const nameOf =
  (models: readonly WhatIf[]) =>
  ({ stack, pool }: WhatIf): string =>
    models.filter((model) => model.stack === stack).length > 1 ? `${stack}: ${pool}` : stack;

/** What stands below the table: of each pool what it survives, what wastes space, how bounds are made, what to say. */
function notes(models: readonly WhatIf[]): string[] {
  const name = nameOf(models);
  return models.flatMap((model) => [
    `${name(model)} survives: ${model.failures.words}`,
    ...(model.volume?.hints.map((hint) => `${name(model)}: ${hint}`) ?? []),
    ...[
      ...new Set(
        model.bounds.flatMap(({ limit }) =>
          limit === null ? [] : [`${called(limit.element)}: ${limit.how}`],
        ),
      ),
    ].map((how) => `${name(model)}, ${how}`),
    ...model.ask.map((what) => `${name(model)}: not known is ${what}`),
  ]);
}

const remark =
  "Bounds are what the path can't exceed, CPUs and the ARC left out, as only a run shows these; a read is one that the ARC can't serve. × is bytes on disks for each byte of payload.";

export const inTerminal = (models: readonly WhatIf[]): string =>
  [textTable(tableOf(models)), "", ...notes(models), "", remark].join("\n");

export const inMarkdown = (models: readonly WhatIf[]): string =>
  [markdownTable(tableOf(models)), "", ...notes(models).map((note) => `- ${note}`), "", remark].join("\n");
