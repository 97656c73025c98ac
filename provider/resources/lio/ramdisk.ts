import { z } from "zod";
import { ParseError, RefusedError } from "../../errors.ts";
import { type HostAddress, hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import { formatSize, parseSize } from "../../size.ts";
import type { Step } from "../../step.ts";
import { derivedSerial, freeIndex } from "./backstore.ts";
import { backstoreProblem, lunsOf } from "./backstore-rules.ts";
import { core, type Lio, observeLio, type Ramdisk } from "./configfs.ts";
import {
  missingPackage,
  observeRestore,
  preparedByOthers,
  type Restore,
  saveSteps,
  wholePlan,
} from "./saved.ts";

/**
 * A RAM disk as a backstore of LIO (rd_mcp), by configfs. See targetcli(8), /backstores/ramdisk. A LUN on it
 * measures the fabric without pool and disks. Its pages are the host's memory, taken when it is made; what is
 * written to it is lost when the host restarts.
 */
export const ramdiskInputs = z.strictObject({
  host: hostAddress.meta({ change: "replace" }),
  name: z.string().meta({ change: "replace" }).describe("The backstore's name: tank-ramdisk."),
  size: z
    .string()
    .refine((text) => parseSize(text) !== undefined, {
      error: "a size is a number with a unit in zfs notation or IEC (256M, 256 MiB, 1G), in whole bytes",
    })
    .meta({ change: "replace" })
    .describe("Its size, a whole number of MiB, at most half of the host's memory: 256 MiB."),
  serial: z
    .guid()
    .optional()
    .meta({ change: "replace" })
    .describe("Unit serial, a UUID: what initiators know it by. Default: derived from stack, host and name."),
});
export type RamdiskInputs = z.infer<typeof ramdiskInputs>;

export type RamdiskObserved = {
  lio: Lio;
  ramdisk: Ramdisk | undefined;
  restore: Restore;
  /** Of the host: bytes of a page, which rd_mcp counts in, and of its memory. */
  page: number;
  memory: number;
};

const MiB = 1048576;
const bytesOf = (size: string): number => Number(parseSize(size) ?? 0n);

async function observe(host: Questions, { name }: RamdiskInputs): Promise<RamdiskObserved> {
  const number = async (variable: string): Promise<number> => {
    const text = expect(host, await host.ask(["getconf", variable]), variable).trim();
    if (!/^[1-9]\d*$/.test(text))
      throw new ParseError(`${host.name}: getconf ${variable}: no number: ${text}`);
    return Number(text);
  };
  const [lio, restore, page, pages] = await Promise.all([
    observeLio(host),
    observeRestore(host),
    number("PAGESIZE"),
    number("_PHYS_PAGES"),
  ]);
  return { lio, ramdisk: lio.ramdisks.get(name), restore, page, memory: page * pages };
}

function plan(
  desired: RamdiskInputs | undefined,
  { lio, ramdisk, restore, page }: RamdiskObserved,
  { name, host }: RamdiskInputs,
  owner: string,
): Step[] {
  const saved = restore.ramdisks.get(name);
  if (desired === undefined) {
    if (ramdisk === undefined && saved === undefined) return [];
    const alone = ![...lio.ramdisks.values()].some((r) => r !== ramdisk && r.index === ramdisk?.index);
    const folders = ramdisk && [ramdisk.path, ...(alone ? [`${core}/rd_mcp_${ramdisk.index}`] : [])];
    return [
      ...(folders ? [{ say: `remove RAM disk ${name}`, argv: ["rmdir", ...folders] }] : []),
      ...saveSteps(lio, restore, name),
    ];
  }
  const bytes = bytesOf(desired.size);
  const serial = ramdisk?.serial || desired.serial || derivedSerial(owner, host.name, name);
  const parent = `${core}/rd_mcp_${freeIndex(name, lio.indexes)}`;
  const path = ramdisk?.path ?? `${parent}/${name}`;
  const steps: Step[] = [];
  if (ramdisk?.enabled !== true) {
    if (ramdisk === undefined) {
      const made = { argv: ["mkdir", parent, path], undo: ["rmdir", path, parent] };
      steps.push({ say: `make RAM disk ${name}`, ...made });
    }
    const size = formatSize(BigInt(bytes));
    steps.push(
      { say: `give ${name} ${size}`, attribute: `${path}/control`, value: `rd_pages=${bytes / page}` },
      { say: `give ${name} serial ${serial}`, attribute: `${path}/wwn/vpd_unit_serial`, value: serial },
      {
        say: `enable RAM disk ${name}, which takes ${size} of memory`,
        attribute: `${path}/enable`,
        value: "1",
      },
    );
  }
  const isSaved = saved?.bytes === bytes && saved.serial === serial;
  return wholePlan(steps, isSaved, { lio, restore }, { name, iser: false });
}

function refusals(
  desired: RamdiskInputs | undefined,
  { lio, ramdisk, restore, memory }: RamdiskObserved,
  { name, host }: RamdiskInputs,
): string[] {
  const sentences = restore.unit === undefined ? [missingPackage(host.name)] : [];
  if (desired === undefined) {
    const users = lunsOf(lio, ramdisk?.path);
    return [
      ...sentences,
      ...users.map((user) => `RAM disk ${name} on ${host.name} is ${user}: remove that LUN or target first`),
    ];
  }
  if (lio.blocks.has(name))
    sentences.push(`${name} on ${host.name} is a block backstore: choose another name`);
  const bytes = bytesOf(desired.size);
  const serial = desired.serial?.toLowerCase();
  if (ramdisk?.enabled && ramdisk.bytes !== bytes) {
    sentences.push(
      `RAM disk ${name} on ${host.name} has ${formatSize(BigInt(ramdisk.bytes))} (${ramdisk.bytes} bytes), not ` +
        `${desired.size} (${bytes} bytes), and LIO can't change that: leave it out once, then declare it anew`,
    );
  }
  if (ramdisk?.enabled && serial !== undefined && ramdisk.serial.toLowerCase() !== serial) {
    sentences.push(
      `RAM disk ${name} on ${host.name} has serial ${ramdisk.serial}, not ${desired.serial}: leave serial out to keep it`,
    );
  }
  if (ramdisk === undefined && bytes > memory / 2) {
    sentences.push(
      `RAM disk ${name} of ${desired.size} (${bytes} bytes) is more than half of the memory of ${host.name} ` +
        `(${memory} bytes), which the ARC and all else need: take a smaller one`,
    );
  }
  return sentences;
}

/** What a RAM disk's inputs have to obey among themselves. No host is asked. */
export function ramdiskRules({ name, size }: Pick<RamdiskInputs, "name" | "size">): [string, string][] {
  const problem = backstoreProblem(name);
  const bytes = bytesOf(size);
  return [
    ...(problem === undefined ? [] : [["name", problem] as [string, string]]),
    ...(bytes > 0 && bytes % MiB === 0
      ? []
      : [["size", `${size} (${bytes} bytes) is no whole number of MiB`] as [string, string]]),
  ];
}

const named = (host: HostAddress, name: string): RamdiskInputs | undefined =>
  backstoreProblem(name) === undefined ? { host, name, size: "" } : undefined;

function found({ ramdisk }: RamdiskObserved, { host, name }: RamdiskInputs): RamdiskInputs {
  if (!ramdisk?.enabled) {
    throw new RefusedError(
      `RAM disk ${name} on ${host.name} is not enabled, so there is nothing to take over: ` +
        `remove it: targetcli /backstores/ramdisk delete ${name}`,
    );
  }
  const { bytes, serial } = ramdisk;
  return {
    ...{ host, name, size: formatSize(BigInt(bytes)) },
    ...(ramdiskInputs.shape.serial.safeParse(serial).success ? { serial } : {}),
  };
}

function gone(observed: RamdiskObserved, { name }: RamdiskInputs): RamdiskObserved {
  const { lio, restore, ramdisk } = observed;
  const without = <T>(map: ReadonlyMap<string, T>): Map<string, T> =>
    new Map([...map].filter(([key]) => key !== name));
  const ramdisks = without(lio.ramdisks);
  const alone = ![...ramdisks.values()].some(({ index }) => index === ramdisk?.index);
  const indexes = new Set([...lio.indexes].filter((index) => !alone || index !== ramdisk?.index));
  return {
    ...observed,
    lio: { ...lio, ramdisks, indexes },
    ramdisk: undefined,
    restore: { ...restore, ramdisks: without(restore.ramdisks) },
  };
}

export const ramdisk: ResourceType<RamdiskInputs, RamdiskObserved> = {
  type: "lio:Ramdisk",
  inputs: ramdiskInputs,
  identity: ({ name }) => name,
  observe,
  exists: (observed) => observed.ramdisk !== undefined,
  current: (observed, inputs) => {
    const there = observed.ramdisk;
    if (!there?.enabled) return inputs;
    return {
      ...inputs,
      ...(there.bytes === bytesOf(inputs.size) ? {} : { size: formatSize(BigInt(there.bytes)) }),
      ...(inputs.serial === undefined || there.serial.toLowerCase() === inputs.serial.toLowerCase()
        ? {}
        : { serial: there.serial }),
    };
  },
  plan,
  refusals,
  refusesReplace: (_inputs, observed) => {
    const [user] = observed ? lunsOf(observed.lio, observed.ramdisk?.path) : [];
    return user && `It is ${user}: leave the RAM disk out for one up, then declare it anew`;
  },
  hints: ({ host }, { lio, restore }) => preparedByOthers(lio, restore, host.name),
  named,
  found,
  gone,
  rules: ramdiskRules,
  outputs: ({ name, serial }, observed) => ({
    name,
    ...(observed?.ramdisk === undefined
      ? serial === undefined
        ? {}
        : { serial }
      : { serial: observed.ramdisk.serial }),
  }),
};
