import type { LabConfig } from "../config.ts";
import { blockHints, declaredGeometries } from "../provider/resources/zfs/geometry.ts";
import type { PoolInputs } from "../provider/resources/zfs/pool.ts";
import { tolerated, type VdevLayout } from "./layout.ts";

/** From the stack file's words to the inputs of the ZFS types, hosts apart. Pure. */

type PoolConfig = LabConfig["pools"][string];
const roles = ["data", "special", "dedup", "log", "cache", "spare"] as const;
export type Role = (typeof roles)[number];

type Layout = { vdevs: VdevLayout[]; enclosures: string[][] };

/** A pool's layouts by role, those that are declared. */
const layoutsOf = (pool: PoolConfig): { role: Role; layouts: Layout[] }[] =>
  roles.flatMap((role) => {
    const given = pool[role];
    return given === undefined ? [] : [{ role, layouts: [given].flat() }];
  });

export const poolVdevs = (pool: PoolConfig): (VdevLayout & { role: Role })[] =>
  layoutsOf(pool).flatMap(({ role, layouts }) =>
    layouts.flatMap(({ vdevs }) => vdevs.map((vdev) => ({ role, ...vdev }))),
  );

export function poolInputs(name: string, pool: PoolConfig): Omit<PoolInputs, "host"> {
  const { host: _host, data: _d, log: _l, cache: _c, special: _s, dedup: _dd, spare: _sp, ...fields } = pool;
  return { name, vdevs: poolVdevs(pool), ...fields };
}

/** Which failures a pool survives, role by role: what an operator wants to know before anything else. */
export const poolTolerates = (pool: PoolConfig): string =>
  layoutsOf(pool)
    .filter(({ role }) => role !== "spare")
    .map(({ role, layouts }) => {
      if (role === "cache") return "cache: any failure, it holds copies only";
      const survives = tolerated(
        layouts.flatMap(({ vdevs }) => vdevs),
        layouts.flatMap(({ enclosures }) => enclosures),
      );
      if (role === "log" && survives === "no failure") {
        return "log: no failure, if the host fails with it: the last synchronous writes would be lost";
      }
      return `${role}: ${survives}`;
    })
    .join("; ");

/** What a volume's block size costs on the declared vdevs: said before there is a pool to ask. */
export const volumeHints = (
  pool: PoolConfig,
  { volblocksize }: Pick<LabConfig["volumes"][string], "volblocksize">,
): string[] =>
  blockHints(
    volblocksize,
    declaredGeometries(
      poolVdevs(pool).filter(({ role }) => role === "data"),
      pool.ashift,
    ),
  );
