import type { Answer, Questions } from "../../host.ts";
import { expect } from "../../resource.ts";
import type { Step } from "../../step.ts";
import {
  contents,
  type Disk,
  diskPath,
  findDevice,
  inUse,
  labelStates,
  onlyZfsPartitions,
  partitions,
  readLabel,
  readSignatures,
  wipefs,
} from "./disks.ts";
import type { PoolInputs, PoolObserved } from "./pool.ts";
import { noZfs, poolComment } from "./properties.ts";
import { type PoolStatus, parseImportable } from "./status.ts";
import { firstPartition, poolOf, sameDisk, vdevArguments, vdevChanges } from "./vdevs.ts";

/** The disks that a pool takes and leaves: what is on them, what may be cleared, how they are made ready. */

type Known = Pick<PoolObserved, "pool" | "devices" | "nodes"> & { name: string };

/** What the declared disks hold that are not in the pool, in one more round trip; none where all are. */
export async function readDisks(
  host: Questions,
  declared: readonly string[],
  pools: readonly PoolStatus[],
  known: Known,
): Promise<Pick<PoolObserved, "disks" | "importable" | "nodes">> {
  const shown = known.pool?.vdevs.flatMap(({ disks }) => disks) ?? [];
  const spelled = declared.filter((path) => !shown.some((disk) => sameDisk(path, disk, () => undefined)));
  if (spelled.length === 0) return { disks: [], importable: [], nodes: known.nodes };
  const members = pools.flatMap(({ vdevs }) => vdevs.flatMap(({ disks }) => disks));
  const devices = spelled.map((path) => findDevice(known.devices, known.nodes.get(path) ?? path));
  const [links, importable, ...found] = await Promise.all([
    members.length === 0 ? undefined : host.ask(["readlink", "-m", ...members]),
    known.pool === undefined ? host.ask(["zpool", "import"]) : undefined,
    ...spelled.map(async (path, n) => {
      const [signatures, ...labels] = await Promise.all([
        host.ask(wipefs(path)),
        ...zfsMembers(devices[n]).map(async (device) => ({
          device,
          answer: await host.ask(["zdb", "-l", device]),
        })),
      ]);
      return { signatures, labels };
    }),
  ]);
  const targets =
    links === undefined ? [] : expect(host, links, "the pools' device nodes").trimEnd().split("\n");
  const nodes = new Map([...known.nodes, ...members.map((path, n) => [path, targets[n] ?? path] as const)]);
  const resolve = (path: string) => nodes.get(path);
  const disks = spelled.map((path, n): Disk => {
    const device = devices[n];
    const { signatures, labels } = found[n] ?? {};
    return {
      path,
      device,
      signatures: (signatures && readSignatures(host, signatures, path)) ?? [],
      labels: (labels ?? []).flatMap(({ device: on, answer }) => {
        const label = readLabel(host, answer, on);
        return label === undefined ? [] : [{ device: on, label }];
      }),
      pool: device && poolOf(pools, device, resolve),
    };
  });
  return {
    disks: disks.filter(({ path }) => !shown.some((disk) => sameDisk(path, disk, resolve))),
    importable: importable === undefined ? [] : readImportable(host, importable, known.name),
    nodes,
  };
}

/** The devices of a disk that may hold a ZFS label. */
const zfsMembers = (device: Disk["device"]): string[] =>
  device === undefined
    ? []
    : [device, ...partitions(device)]
        .filter((part) => part.fstype === "zfs_member" || (part.type === "part" && onlyZfsPartitions(device)))
        .map(({ kname }) => kname);

function readImportable(host: Questions, answer: Answer, name: string): PoolObserved["importable"] {
  if (noZfs(answer)) return [];
  return parseImportable(expect(host, answer, "the pools that are not imported")).filter(
    (pool) => pool.name === name,
  );
}

/**
 * Where a run notes, before it gives disks to a pool that it found to be free, or takes them back from a pool that
 * it destroys. A disk that is listed there and holds ZFS's partitions without a ZFS label is its unfinished work.
 */
export const recordFile = (pool: string): string => `/var/lib/storage-lab/zpool-begun/${pool}`;

export function readRecord(host: Questions, answer: Answer, pool: string): PoolObserved["begun"] {
  if (answer.status !== 0 && answer.stderr.includes("No such file or directory")) return undefined;
  const [owner = "", ...disks] = expect(host, answer, `what was begun for pool ${pool}`)
    .trimEnd()
    .split("\n");
  return { owner, disks };
}

/**
 * May this disk be cleared although the stack file does not name it under `wipe`? Only for what this stack left:
 * - labels of a pool of this name that bear this stack's mark and say "destroyed": `zpool destroy` was run on it,
 *   so its data was given up then; the mark is in the label itself, so no other pool can be taken for it;
 * - labels of a cache or spare, which hold no data and name no pool, where another declared disk bears such a label
 *   or the record lists the disk;
 * - ZFS's partitions without a label, which an interrupted run left, by the record it wrote before.
 * Anything else on the disk beside ZFS's own two partitions forbids it.
 */
function leftover(disk: Disk, observed: PoolObserved, name: string, owner: string): boolean {
  const { device, signatures, labels } = disk;
  if (device === undefined || !onlyZfsPartitions(device)) return false;
  if (!signatures.every(({ type }) => ["gpt", "PMBR", "zfs_member"].includes(type))) return false;
  const { begun } = observed;
  const listed = begun?.owner === owner && begun.disks.includes(disk.path);
  if (labels.length === 0) return listed && !signatures.some(({ type }) => type === "zfs_member");
  const destroyed = ({ labels }: Disk): boolean =>
    labels.some(
      ({ label }) =>
        label.state === labelStates.destroyed && label.pool === name && label.comment === poolComment(owner),
    );
  const aside = labels.every(
    ({ label }) =>
      label.pool === undefined && (label.state === labelStates.cache || label.state === labelStates.spare),
  );
  return (labels.length === 1 && destroyed(disk)) || (aside && (listed || observed.disks.some(destroyed)));
}

/** Why the declared disks can't be taken: those in use, and those that hold something, each with its findings. */
export function refuseDisks(observed: PoolObserved, desired: PoolInputs, owner: string): string[] {
  const wipe = new Set((desired.wipe ?? []).map(diskPath));
  const lines: Record<"missing" | "used" | "full", string[]> = { missing: [], used: [], full: [] };
  for (const disk of taken(observed, desired)) {
    const [uses, holds] = [inUse(disk), contents(disk)];
    const may = wipe.has(disk.path) || leftover(disk, observed, desired.name, owner);
    if (disk.device === undefined) lines.missing.push(`\n    ${disk.path}`);
    else if (uses.length > 0) lines.used.push(`\n    ${disk.path}: ${uses.join("; ")}`);
    else if (holds.length > 0 && !may) lines.full.push(`\n    ${disk.path}: ${holds.join("; ")}`);
  }
  const refusal = (found: readonly string[], what: string, out: string): string[] =>
    found.length === 0 ? [] : [`${what}:${found.join("")}\n  ${out}`];
  return [
    ...refusal(
      lines.missing,
      "These disks are not there",
      "Check their names in /dev/disk/by-id, and their cables.",
    ),
    ...refusal(lines.used, "These disks are in use", "Take them out of use first, or declare others."),
    ...refusal(
      lines.full,
      "These disks are not blank",
      "If all of that may be destroyed, name the disks under wipe; otherwise declare others.",
    ),
  ];
}

/** The disks that the next plan takes: all that are declared and not in the pool. */
const taken = (observed: PoolObserved, desired: PoolInputs): Disk[] => {
  const resolve = (path: string) => observed.nodes.get(path);
  const added = vdevChanges(desired.vdevs, observed.pool?.vdevs ?? [], resolve).add;
  const paths = new Set(vdevArguments(added));
  return observed.disks.filter(({ path }) => paths.has(path));
};

const note = (say: string, pool: string, owner: string, disks: readonly string[]): Step => ({
  say,
  file: recordFile(pool),
  text: `${[owner, ...disks].join("\n")}\n`,
});
export const forgetNote = (pool: string): Step[] => [
  { say: `note that the work on pool ${pool} is done`, argv: ["rm", "-f", recordFile(pool)] },
];

/** Clears what may be cleared, runs `take` (which gives the disks to the pool), and notes begin and end of it. */
export function takeDisks(
  observed: PoolObserved,
  desired: PoolInputs,
  owner: string,
  take: { say: string; argv: readonly string[] },
): Step[] {
  const disks = taken(observed, desired);
  const paths = disks.map(({ path }) => path);
  return [
    note(`note that ${paths.length} disks go to pool ${desired.name}`, desired.name, owner, paths),
    ...clearDisks(disks.filter((disk) => contents(disk).length > 0)),
    { say: "wait for the disks' links", until: ["ls", "-L", ...paths], deadlineSeconds: 60 },
    { say: take.say, argv: [...paths.flatMap(withoutRescan), ...take.argv] },
    ...forgetNote(desired.name),
  ];
}

/**
 * Whenever a program that wrote to a disk closes it, udev reads the partition table anew: all partitions vanish
 * for a moment, and their links. zpool closes each disk after it labelled it and goes on to the next; where the
 * kernel then opens a partition in such a moment, the pool fails with "one or more devices is currently
 * unavailable" (ZFS 2.3.9 tries once; a busy udev makes the moment seconds long). udev leaves a disk alone that
 * somebody has locked; a shared lock keeps it from re-reading, but lets it make the new partitions' links.
 * See "Locking Block Device Access" of systemd.
 */
const withoutRescan = (disk: string): string[] => ["flock", "-s", disk];

type Cleared = { path: string; labelled: string[]; partitions: string[] };

const clearedDisk = ({ path, device, labels }: Disk): Cleared => ({
  path,
  labelled: labels.map((label) => label.device),
  partitions: device === undefined ? [] : partitions(device).map(({ kname }) => kname),
});

const clearDisks = (disks: readonly Disk[]): Step[] => clear(disks.map(clearedDisk));

/**
 * Takes labels and partition tables off disks, then waits until udev has removed the partitions' links: `zpool
 * create` waits for the link of the partition that it makes, and a link from before would end that wait too early.
 */
function clear(disks: readonly Cleared[]): Step[] {
  if (disks.length === 0) return [];
  const whole = disks
    .filter(({ partitions }) => partitions.length > 0)
    .map(({ path }) => firstPartition(path));
  const gone = whole.flatMap((path, n) => [...(n === 0 ? [] : ["-a"]), "!", "-e", path]);
  return [
    ...disks.flatMap(({ labelled }) =>
      labelled.map((device) => ({
        say: `clear the ZFS label of ${device}`,
        argv: ["zpool", "labelclear", "-f", device],
      })),
    ),
    {
      say: `clear ${disks.map(({ path }) => path).join(", ")}`,
      argv: ["wipefs", "-q", "-a", ...disks.flatMap(({ partitions, path }) => [...partitions, path])],
    },
    ...(whole.length === 0
      ? []
      : [{ say: "wait until their partitions are gone", until: ["test", ...gone], deadlineSeconds: 60 }]),
    { say: "wait for udev", until: ["udevadm", "settle", "--timeout=5"], deadlineSeconds: 120 },
  ];
}

/**
 * Destroys a pool (`destroy`; none where an earlier run did it) and clears the disks that it held: labels, and
 * the partition table of those that ZFS had whole. An interrupted delete is taken up by what it left.
 */
export function releaseDisks(
  observed: PoolObserved,
  inputs: PoolInputs,
  owner: string,
  destroy: readonly Step[],
): Step[] {
  const { name } = inputs;
  const disks = observed.pool === undefined ? leftDisks(observed, name, owner) : heldDisks(observed, inputs);
  const done = observed.pool === undefined && observed.begun === undefined ? [] : forgetNote(name);
  if (disks.length === 0) return [...destroy, ...done];
  const paths = disks.map(({ path }) => path);
  return [
    note(`note that pool ${name} gives ${paths.length} disks back`, name, owner, paths),
    ...destroy,
    ...clear(disks),
    ...forgetNote(name),
  ];
}

const leftDisks = (observed: PoolObserved, name: string, owner: string): Cleared[] =>
  observed.disks
    .filter((disk) => inUse(disk).length === 0 && contents(disk).length > 0)
    .filter((disk) => leftover(disk, observed, name, owner))
    .map(clearedDisk);

function heldDisks({ pool, devices, nodes }: PoolObserved, inputs: PoolInputs): Cleared[] {
  const held = pool?.vdevs.flatMap(({ disks }) => disks) ?? [];
  const resolve = (path: string) => nodes.get(path);
  const declared = inputs.vdevs.flatMap(({ disks }) => disks.map(diskPath));
  return declared.flatMap((path): Cleared[] => {
    const device = findDevice(devices, resolve(path) ?? path);
    const shown = held.find((disk) => sameDisk(path, disk, resolve));
    if (device === undefined || shown === undefined || !onlyZfsPartitions(device)) return [];
    const parts = partitions(device).map(({ kname }) => kname);
    const whole = shown !== path && resolve(shown) !== device.kname;
    return [{ path, labelled: whole ? parts.slice(0, 1) : [device.kname], partitions: parts }];
  });
}
