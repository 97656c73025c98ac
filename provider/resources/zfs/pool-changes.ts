import type { Effect, Step } from "../../step.ts";
import { mountSteps } from "./dataset.ts";
import { diskPath } from "./disks.ts";
import type { PoolInputs } from "./pool.ts";
import {
  clearDisks,
  forgetNote,
  found,
  givenDisks,
  leftDisks,
  note,
  readyDisks,
  wholeDisk,
  withoutRescan,
} from "./pool-disks.ts";
import { type PoolObserved, resolver } from "./pool-observe.ts";
import { assignment, differing, local, ownerProperty, type Properties, poolComment } from "./properties.ts";
import type { TopLevelVdev } from "./status.ts";
import {
  type DeclaredVdev,
  newDisks,
  parity,
  removable,
  sameDisk,
  type VdevChanges,
  vdevArguments,
  vdevChanges,
} from "./vdevs.ts";

/** The steps that turn an imported pool into the declared one, all of them online. */

type Pool = NonNullable<PoolObserved["pool"]>;

export function changePool(desired: PoolInputs, observed: PoolObserved, pool: Pool, owner: string): Step[] {
  const { name } = desired;
  const changes = vdevChanges(desired.vdevs, pool.vdevs, resolver(observed));
  const steps = [
    ...setPool(name, differing(desired.properties ?? {}, pool.properties)),
    ...setRoot(name, differing(desired.filesystemProperties ?? {}, pool.root)),
    ...mountRoot(desired, pool, owner),
    ...changeVdevs(desired, observed, pool, changes, owner),
    ...switchDisks(desired, observed, pool),
    ...expand(desired, observed, pool, changes),
    ...waitForResilver(desired, pool, changes),
  ];
  // A pool that was imported into the stack gets its marks together with the first real change.
  const imported = local(pool.root, ownerProperty) === undefined && steps.length === 0;
  return [...endNote(observed, name, owner), ...(imported ? [] : setMarks(name, pool, owner)), ...steps];
}

/** `zpool create` has made the pool when it finds that it can't mount it, for instance because the disk of `/` is full. */
function mountRoot({ name, filesystemProperties = {} }: PoolInputs, { root }: Pool, owner: string): Step[] {
  if (local(root, ownerProperty) !== owner || root.get("mounted")?.value !== "no") return [];
  return mountSteps(name, new Map(Object.entries(filesystemProperties)), root);
}

/** What an interrupted run began: disks that it took out of the pool are cleared, and its note goes. */
function endNote(observed: PoolObserved, name: string, owner: string): Step[] {
  if (observed.begun === undefined) return [];
  return [...clearDisks(leftDisks(observed.given, observed, name, owner)), ...forgetNote(name)];
}

export const setPool = (name: string, values: [string, string][]): Step[] =>
  values.map(([key, value]) => ({
    say: `set ${key} of pool ${name} to ${value}`,
    argv: ["zpool", "set", assignment(key, value), name],
    ...(key.startsWith("feature@") && { effect: "cannot be undone" }),
  }));

export const setRoot = (name: string, values: [string, string][]): Step[] =>
  values.length === 0
    ? []
    : [
        {
          say: `set ${values.map(([key, value]) => `${key} to ${value}`).join(", ")} on dataset ${name}`,
          argv: ["zfs", "set", ...values.map(([key, value]) => assignment(key, value)), name],
        },
      ];

const setMarks = (name: string, { properties, root }: Pool, owner: string): Step[] => [
  ...setPool(name, differing({ comment: poolComment(owner) }, properties)),
  ...(local(root, ownerProperty) === owner ? [] : setRoot(name, [[ownerProperty, owner]])),
];

/**
 * In an order in which the pool is never less redundant than before or after: what only helps goes first, then
 * disks come in, then sides leave that nothing needs any more, then whole vdevs come and go.
 */
function changeVdevs(
  desired: PoolInputs,
  observed: PoolObserved,
  pool: Pool,
  changes: VdevChanges,
  owner: string,
): Step[] {
  const { name } = desired;
  const aside = changes.remove.filter(({ role }) => removable.includes(role));
  const evacuated = changes.remove.filter(({ role }) => !removable.includes(role));
  const taken = found(observed, newDisks(changes));
  const given = (shown: readonly string[]) => givenDisks(shown, observed);
  const detached = given(changes.detach.map(({ disk }) => disk));
  const left = [...given(changes.remove.flatMap(({ disks }) => disks)), ...detached];
  const steps = [
    ...remove(name, aside, given),
    ...readyDisks(taken, observed, desired, owner),
    ...exchange(name, pool, changes),
    ...detach(name, pool, changes),
    ...clearDisks(detached),
    ...add(desired, pool, changes.add),
    ...changes.keep.map(
      (vdev): Step => ({
        say: `stop the removal of ${vdev.name} from pool ${name}`,
        argv: ["zpool", "remove", "-s", name],
      }),
    ),
    ...evacuate(name, pool, evacuated, changes, given),
  ];
  if (steps.length === 0) return [];
  const moved = [...taken, ...left].map(({ path }) => path);
  if (moved.length === 0) return steps;
  const say = [
    ...(taken.length > 0 ? [`takes ${taken.length} disks`] : []),
    ...(left.length > 0 ? [`gives ${left.length} disks back`] : []),
  ];
  return [
    note(`note that pool ${name} ${say.join(" and ")}`, name, owner, moved),
    ...steps,
    ...forgetNote(name),
  ];
}

type GiveBack = (shown: readonly string[]) => ReturnType<typeof givenDisks>;

const remove = (name: string, vdevs: readonly TopLevelVdev[], given: GiveBack): Step[] =>
  vdevs.length === 0
    ? []
    : [
        {
          say: `remove ${vdevs.map((vdev) => `${vdev.role} ${vdev.name}`).join(", ")} from pool ${name}`,
          argv: ["zpool", "remove", name, ...vdevs.map((vdev) => vdev.name)],
        },
        ...clearDisks(given(vdevs.flatMap(({ disks }) => disks))),
      ];

/** Disks that take another's place, and disks that come to a mirror or a RAID-Z, which is widened one by one. */
function exchange(name: string, pool: Pool, { replace, attach }: VdevChanges): Step[] {
  const raidz = (vdev: string): boolean => vdev.startsWith("raidz");
  const widened = attach.filter(({ vdev }) => raidz(vdev));
  const waits = (n: number): boolean => n > 0 || pool.busy?.expand !== undefined;
  return [
    ...replace.map(
      ({ vdev, old, disk }): Step => ({
        say: `replace ${old} by ${diskPath(disk)} in ${vdev} of pool ${name}`,
        argv: [...withoutRescan([disk]), "zpool", "replace", name, old, diskPath(disk)],
      }),
    ),
    ...attach
      .filter(({ vdev }) => !raidz(vdev))
      .map(
        ({ to, disk }): Step => ({
          say: `attach ${diskPath(disk)} to ${to} of pool ${name} as another side of a mirror`,
          argv: [...withoutRescan([disk]), "zpool", "attach", name, to, diskPath(disk)],
        }),
      ),
    ...widened.flatMap(({ vdev, disk }, n): Step[] => [
      ...(waits(n) ? [waitFor("raidz_expand", name, `the RAID-Z expansion${told(pool.busy?.expand)}`)] : []),
      {
        say: `widen ${vdev} of pool ${name} by ${diskPath(disk)}`,
        argv: [...withoutRescan([disk]), "zpool", "attach", name, vdev, diskPath(disk)],
        effect: "cannot be undone",
      },
    ]),
  ];
}

const told = (progress: string | undefined): string => (progress === undefined ? "" : ` (${progress})`);

/** A side leaves once the others are whole: a new side is resilvered from it. */
function detach(name: string, pool: Pool, changes: VdevChanges): Step[] {
  if (changes.detach.length === 0) return [];
  const resilvers = resilvering(pool, changes);
  return [
    ...(resilvers ? [waitFor("resilver", name, `the resilver${told(pool.busy?.resilver)}`)] : []),
    ...changes.detach.map(
      ({ vdev, name: side, disk }): Step => ({
        say: `detach ${disk} from ${vdev} of pool ${name}`,
        argv: ["zpool", "detach", name, side],
      }),
    ),
  ];
}

const resilvering = ({ busy }: Pool, { replace, attach }: VdevChanges): boolean =>
  busy?.resilver !== undefined || replace.length + attach.length > 0;

function add({ name, ashift }: PoolInputs, pool: Pool, vdevs: readonly DeclaredVdev[]): Step[] {
  if (vdevs.length === 0) return [];
  const disks = vdevs.flatMap((vdev) => vdev.disks);
  const forever = vdevs.some(({ role }) => !removable.includes(role)) && whyKept(pool, vdevs) !== undefined;
  const effect: { effect?: Effect } = forever ? { effect: "cannot be undone" } : {};
  return [
    {
      say: `add ${vdevArguments(vdevs).join(" ")} to pool ${name}`,
      argv: [
        ...withoutRescan(disks),
        ...["zpool", "add", ...(ashift === undefined ? [] : ["-o", `ashift=${ashift}`]), name],
        ...vdevArguments(vdevs),
      ],
      ...effect,
    },
  ];
}

/** Why a data, special or dedup vdev can't be removed from this pool; undefined where ZFS can move its data away. */
export function whyKept(
  { vdevs, properties }: Pick<Pool, "vdevs" | "properties">,
  more: readonly DeclaredVdev[] = [],
): string | undefined {
  const parityVdev = [...vdevs, ...more].find(({ type }) => type !== "mirror" && parity(type) > 0);
  if (parityVdev !== undefined) return `the pool has a ${parityVdev.type} vdev`;
  if (!hasFeature(properties, "device_removal")) return "feature@device_removal is not enabled";
  return undefined;
}

export const hasFeature = (properties: Properties, feature: string): boolean =>
  ["enabled", "active"].includes(properties.get(`feature@${feature}`)?.value ?? "");

/** Moves each vdev's data to the others; one at a time, since ZFS does no more. */
function evacuate(
  name: string,
  pool: Pool,
  vdevs: readonly TopLevelVdev[],
  changes: VdevChanges,
  given: GiveBack,
): Step[] {
  if (vdevs.length === 0) return [];
  const [begun, others] = [
    vdevs.filter(({ removing }) => removing),
    vdevs.filter(({ removing }) => !removing),
  ];
  const wait = (say: string): Step => waitFor("remove", name, say);
  // Before ZFS 2.2 it may not be known which of them is under way; once it has ended, the rest is.
  if (pool.busy?.remove !== undefined && begun.length === 0)
    return [wait(`the removal under way${told(pool.busy.remove)}`)];
  return [
    ...(begun.length === 0 ? [] : [wait(`the removal of ${begun[0]?.name}${told(pool.busy?.remove)}`)]),
    ...(others.length > 0 && resilvering(pool, changes) ? [waitFor("resilver", name, "the resilver")] : []),
    ...others.flatMap((vdev): Step[] => [
      {
        say: `remove ${vdev.role} ${vdev.name} from pool ${name}: its data moves to the other vdevs`,
        argv: ["zpool", "remove", name, vdev.name],
        // What its blocks are found by from then on stays in memory as long as the pool lives.
        effect: "cannot be undone",
      },
      wait(`the removal of ${vdev.name}`),
    ]),
    ...clearDisks(given(vdevs.flatMap(({ disks }) => disks))),
  ];
}

/**
 * ZFS does these by itself and goes on where the wait ends: after the deadline `up` fails and says so, and the next
 * one waits on. Less than the time that a host is given for one run of commands.
 */
const waitMinutes = 25;

function waitFor(what: "resilver" | "remove" | "raidz_expand", pool: string, say: string): Step {
  return {
    say: `wait for ${say} of pool ${pool}, ${waitMinutes} minutes at most`,
    until: ["timeout", "5", "zpool", "wait", "-t", what, pool],
    deadlineSeconds: waitMinutes * 60,
    progress: ["sh", "-c", `zpool status "$1" | grep -oE '[0-9.]+% done.*'`, "sh", pool],
  };
}

function waitForResilver(
  { name, waitForResilver: wanted }: PoolInputs,
  pool: Pool,
  changes: VdevChanges,
): Step[] {
  if (wanted !== true) return [];
  const { busy } = pool;
  const widened = changes.attach.some(({ vdev }) => vdev.startsWith("raidz"));
  return [
    ...(busy?.expand !== undefined || widened
      ? [waitFor("raidz_expand", name, `the RAID-Z expansion${told(busy?.expand)}`)]
      : []),
    ...(resilvering(pool, changes) ? [waitFor("resilver", name, `the resilver${told(busy?.resilver)}`)] : []),
  ];
}

/** Only where the stack says which disks are to be offline: what an operator took offline by hand is left otherwise. */
function switchDisks({ name, offline }: PoolInputs, observed: PoolObserved, pool: Pool): Step[] {
  if (offline === undefined) return [];
  const resolve = resolver(observed);
  return pool.vdevs.flatMap(({ disks, states = {} }) =>
    disks.flatMap((shown): Step[] => {
      const wanted = offline.some((disk) => sameDisk(disk, shown, resolve));
      const is = states[shown] === "OFFLINE";
      if (wanted === is) return [];
      const verb = wanted ? "offline" : "online";
      return [{ say: `take ${shown} of pool ${name} ${verb}`, argv: ["zpool", verb, name, shown] }];
    }),
  );
}

/**
 * zpool wants the whole disk here: of the partition that it shows it can't read the capacity. A vdev that changes its
 * disks in this plan may have more room only then, so it is asked to use it, for nothing where there is none.
 */
function expand(desired: PoolInputs, observed: PoolObserved, pool: Pool, changes: VdevChanges): Step[] {
  if (desired.expand !== true) return [];
  const { name } = desired;
  const { replace, detach } = changes;
  const changing = pool.vdevs.filter(
    (vdev) =>
      vdev.leaving !== undefined || [...replace, ...detach].some((change) => change.vdev === vdev.name),
  );
  const vdevs = pool.vdevs.filter((vdev) => observed.growable.includes(vdev.name) || changing.includes(vdev));
  if (vdevs.length === 0) return [];
  const left = new Set([...replace.map(({ old }) => old), ...detach.map((change) => change.name)]);
  const kept = (vdev: TopLevelVdev): string[] => [
    ...vdev.disks
      .filter((shown) => !left.has(vdev.guids?.[shown] ?? shown))
      .map((shown) => wholeDisk(shown, observed)),
    ...replace.filter((change) => change.vdev === vdev.name).map(({ disk }) => diskPath(disk)),
  ];
  return [
    ...(changing.length > 0 ? [waitFor("resilver", name, `the resilver${told(pool.busy?.resilver)}`)] : []),
    {
      say: `let ${vdevs.map((vdev) => vdev.name).join(", ")} of pool ${name} use all of their disks`,
      argv: ["zpool", "online", "-e", name, ...vdevs.flatMap(kept)],
      effect: "cannot be undone",
    },
  ];
}
