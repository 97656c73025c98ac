import { expect } from "../../provider/resource.ts";
import { arcstats } from "../environment/storage.ts";
import { arcCounter, parseArcstats } from "../parse/arcstats.ts";
import type { Precondition } from "../schema/result.ts";
import { asUnit, type BenchHost, unitFailure, unitName } from "../unit.ts";
import type { Bench } from "./bench.ts";

/**
 * A cold ARC on a storage host whose pool can't be exported, because LIO has its zvols open. Dropping the kernel's
 * caches shrinks the ARC, but only to zfs_arc_min, and what is left there is what was used last: the test file. So
 * for a moment the ARC is made as small as ZFS allows (32 to 64 MiB; zfs(4): zfs_arc_min, zfs_arc_max), its dbuf
 * cache is emptied (dbuf_cache_max_bytes), and a zvol of our own takes the place of everything else: a half of it is
 * written and read twice, so that it is newest among what is used often (MFU), then the other half is written, so that
 * it is newest among what was used lately (MRU); each list is evicted from its other end. When that zvol is destroyed, its blocks leave the ARC with it. Then all is set back. Read back is
 * how many bytes of data the ARC holds (arcstats: data_size). It is the whole host's: other pools' data goes as well.
 */

const note = "/run/storage-lab-bench-arc";
const scratch = "storage-lab-bench-cold";
const scratchMiB = 96;

/**
 * Sets back what `chill` changed, by its note, which is gone when that is done. A parameter of 0 stands for a default
 * that ZFS computed when it was loaded, and writing 0 changes nothing: the value in force is written first.
 */
const restoreScript = `
note=${note}
p=/sys/module/zfs/parameters
restore() {
  [ -r "$note" ] || return 0
  read -r pool max min dbuf cmax cmin <"$note"
  if zfs list -H -o name "$pool/${scratch}" >/dev/null 2>&1; then zfs destroy "$pool/${scratch}" || return 1; fi
  echo "$cmax" >"$p/zfs_arc_max" && echo "$cmin" >"$p/zfs_arc_min" &&
    echo "$max" >"$p/zfs_arc_max" && echo "$min" >"$p/zfs_arc_min" &&
    echo "$dbuf" >"$p/dbuf_cache_max_bytes" && rm -f "$note"
}`;

const chillScript = `${restoreScript}
set -e
restore
value() { while read -r name type value; do [ "$name" != "$1" ] || echo "$value"; done </proc/spl/kstat/zfs/arcstats; }
read -r max <"$p/zfs_arc_max"; read -r min <"$p/zfs_arc_min"; read -r dbuf <"$p/dbuf_cache_max_bytes"
umask 077
echo "$0 $max $min $dbuf $(value c_max) $(value c_min)" >"$note"
trap 'restore' EXIT
trap 'exit 143' TERM INT HUP PIPE
echo 33554432 >"$p/zfs_arc_min"
echo 67108864 >"$p/zfs_arc_max"
echo 1 >"$p/dbuf_cache_max_bytes"
zpool sync "$0"
echo 3 >/proc/sys/vm/drop_caches
zfs create -s -V ${scratchMiB}M -o compression=off -o primarycache=all "$0/${scratch}"
n=0
until [ -b "/dev/zvol/$0/${scratch}" ]; do
  n=$((n + 1))
  [ "$n" -le 300 ] || { echo "/dev/zvol/$0/${scratch} did not appear in 30 s" >&2; exit 1; }
  sleep 0.1
done
d="/dev/zvol/$0/${scratch}"
dd if=/dev/zero of="$d" bs=1M count=48 oflag=direct status=none
zpool sync "$0"
for n in 1 2; do dd if="$d" of=/dev/null bs=1M count=48 iflag=direct status=none; done
dd if=/dev/zero of="$d" bs=1M seek=48 count=48 oflag=direct status=none
zpool sync "$0"
echo 3 >/proc/sys/vm/drop_caches
# udev may have the new device open for a moment.
n=0
until said=$(zfs destroy "$0/${scratch}" 2>&1); do
  n=$((n + 1))
  [ "$n" -le 100 ] || { echo "$said" >&2; exit 1; }
  sleep 0.1
done
zpool sync "$0"
echo 3 >/proc/sys/vm/drop_caches`;

/** Longer than any storage host takes to write 96 MiB and to drop its caches. */
const chillSeconds = 300;

/** Empty the ARC. Its settings are set back when the unit ends, also when it is stopped. */
export async function chill(bench: Bench, pool: string, job: string): Promise<void> {
  const { storage, run, request, signal } = bench;
  const unit = {
    name: unitName(run, job),
    description: `storage-lab benchmark of stack ${request.stack}: empty the ARC`,
    seconds: chillSeconds,
  };
  const answer = await storage.stream(asUnit(unit, ["sh", "-c", chillScript, pool]), {
    deadlineSeconds: chillSeconds + 60,
    signal,
  });
  const failure = unitFailure(answer);
  if (failure !== undefined) throw new Error(`${storage.name}: the ARC could not be emptied: ${failure}`);
}

/** What a benchmark that was killed in `chill` left on the storage host. */
export const restoreArc = async (storage: BenchHost, stack: string): Promise<void> =>
  storage.apply(
    [{ say: "set back the ARC's settings, if a benchmark left them changed", argv: restoreArgv }],
    { holder: stack, sideBySide: true },
  );
export const restoreArgv = ["sh", "-c", `${restoreScript}\nrestore`];

/** Of the test file, the ARC may hold this share and still be called cold: what is read meanwhile by others. */
const coldShare = 0.02;

/** Right before a run: does the ARC hold no more data than that? */
export async function coldPrecondition(storage: BenchHost, workingSet: number): Promise<Precondition> {
  const counters = parseArcstats(expect(storage, await storage.ask(arcstats), "the ARC's counters"));
  const held = arcCounter(counters, "data_size");
  const most = Math.floor(workingSet * coldShare);
  return {
    name: "ARC cold",
    wanted: `the ARC holds at most ${mb(most)} of data, ${coldShare * 100} % of the test file (${mb(workingSet)})`,
    found: `${mb(held)} of data in the ARC (data_size), emptied before the run`,
    holds: held <= most,
  };
}

/** Of a warm run's reads at least so many come from the ARC. */
const warmRatio = 0.95;

/** After a run that found its test file read once before. */
export function warmPrecondition(
  hitRatio: number | null,
  workingSet: number,
  arcMaximum: number,
): Precondition {
  const room =
    workingSet > arcMaximum ? `; the test file has ${mb(workingSet)}, the ARC at most ${mb(arcMaximum)}` : "";
  return {
    name: "ARC warm",
    wanted: `the test file read once before, and at least ${warmRatio * 100} % of demand reads served by the ARC`,
    found:
      hitRatio === null ? "no demand reads" : `${(hitRatio * 100).toFixed(1)} % served by the ARC${room}`,
    // A run that only writes asks the ARC for nothing.
    holds: hitRatio === null ? null : hitRatio >= warmRatio,
  };
}

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
