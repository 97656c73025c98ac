import type { Element } from "../schema/diagnosis.ts";
import type { DiskLoad, Evidence, Layout } from "../schema/evidence.ts";
import type { Hardware } from "../schema/needs.ts";
import { directionOf } from "../schema/words.ts";
import { diskRates } from "./disk.ts";
import { elementOf, figure, mbps } from "./element.ts";
import {
  dataShare,
  dataVdevs,
  disksOf,
  intentLog,
  type Load,
  logCost,
  logVdevs,
  readCost,
  readsAtOnce,
  writeCost,
} from "./layout.ts";
import { pcieName, pcieRate } from "./pcie.ts";

/** The storage host's part of the path below its CPUs: ARC, pool, SLOG, HBA, disks. */
export function storageElements(evidence: Evidence, hardware: Hardware): Element[] {
  return [
    ...arc(evidence),
    pool(evidence, hardware),
    ...slog(evidence, hardware),
    ...hba(evidence, hardware),
    disks(evidence, hardware),
  ];
}

export const loadOf = ({ blockSize, operation, sync }: Evidence): Load => ({
  ...{ blockSize, sync },
  random: operation.startsWith("rand"),
});

const directionIn = ({ operation }: Evidence) => directionOf(operation);
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** The part of the reads that the pool has to serve; null: the ARC's hits weren't measured. */
const missed = ({ arc }: Evidence): number | null =>
  arc === null || arc.hitRatio === null ? null : 1 - arc.hitRatio;

function arc(evidence: Evidence): Element[] {
  if (directionIn(evidence) === "write" || evidence.arc === null) return [];
  const { hitRatio, size } = evidence.arc;
  const served =
    hitRatio === null || evidence.bandwidth === null || directionIn(evidence) === "mixed"
      ? null
      : hitRatio * evidence.bandwidth;
  const held = size === null ? "" : `; it holds ${figure(size / 1e6)} MB`;
  return [
    elementOf("arc", "ARC", evidence.bandwidth, {
      ...{ used: served, capacity: null },
      how: `${hitRatio === null ? "its hits were not measured" : `${figure(hitRatio * 100)} % of demand reads hit`}${held}; what memory could serve isn't measured`,
    }),
  ];
}

/** What the data disks together can do for the payload, by the layout, and what of it they did. */
function pool(evidence: Evidence, hardware: Hardware): Element {
  const { bandwidth, blockSize, iops } = evidence;
  const { layout } = evidence.pool;
  const direction = directionIn(evidence);
  const unknown = (how: string): Element =>
    elementOf("pool", "pool", bandwidth, { used: null, capacity: null, how });
  if (layout === null) return unknown("the pool's layout isn't known");
  const load = loadOf(evidence);
  const rates = diskRates(evidence, hardware);
  const part = direction === "write" ? 1 : missed(evidence);
  const reaches = (value: number | null): number | null =>
    value === null || part === null ? null : value * part;
  if (direction === "mixed") return unknown("how much of a mixed load is read and written isn't known");
  if (direction === "read" && load.random) {
    const atOnce = readsAtOnce(layout);
    const capacity = atOnce === null || rates.iops.value === null ? null : atOnce * rates.iops.value;
    const bound = capacity === null || !part ? null : ((capacity / part) * blockSize) / 1e6;
    const how =
      atOnce === null
        ? "the volume's block size isn't known"
        : `serves as many random reads as ${figure(atOnce)} disks; ${rates.iops.how}`;
    return elementOf("pool", "pool", bandwidth, {
      ...{ used: reaches(iops), capacity, unit: "IOPS", bound, from: rates.iops.from, how },
    });
  }
  const count = disksOf(dataVdevs(layout));
  const each = rates.sequential.value === null ? null : rates.sequential.value * count;
  const cost = direction === "write" ? writeCost(layout, load) : readCost(layout, load);
  const share = direction === "write" ? 1 : dataShare(layout);
  const capacity = each === null || cost === null || share === null ? null : (each * share) / cost.least;
  return elementOf("pool", "pool", bandwidth, {
    ...{ used: reaches(bandwidth), capacity, from: rates.sequential.from },
    bound: capacity === null || !part ? null : capacity / part,
    how: `${count} data disks; ${cost?.how ?? "the volume's block size isn't known"}; ${rates.sequential.how}`,
  });
}

function slog(evidence: Evidence, hardware: Hardware): Element[] {
  const { bandwidth } = evidence;
  const { layout, logWritten, disks: all } = evidence.pool;
  const shapes = layout === null ? [] : logVdevs(layout);
  const logs = all.filter(({ role }) => role === "log");
  if (directionIn(evidence) === "read" || (shapes.length === 0 && logs.length === 0)) return [];
  const takes = layout !== null && intentLog(layout, loadOf(evidence)) === "slog";
  const used = logWritten ?? (takes && directionIn(evidence) === "write" ? bandwidth : null);
  const how =
    used === 0
      ? "nothing was written to it: no synchronous writes"
      : used === null && !takes
        ? "only synchronous writes pass it, and this load's don't"
        : undefined;
  const vdevs = sum(shapes.map(({ count }) => count));
  const stated = hardware.log?.sequential;
  if (stated !== undefined && vdevs > 0)
    return [
      elementOf("slog", "SLOG", bandwidth, {
        ...{ used, capacity: stated * vdevs, from: "stated" },
        ...(logWritten === null && { bound: takes ? stated * vdevs : null }),
        how: how ?? `${vdevs} log vdev${vdevs === 1 ? "" : "s"} of ${mbps(stated)}`,
      }),
    ];
  const busiest = busiestOf(logs);
  if (busiest?.busy != null)
    return [
      elementOf("slog", `SLOG, ${busiest.disk}`, bandwidth, {
        ...{ used: busiest.busy, capacity: 100, unit: "%" },
        ...(!(takes && busiest.rotational === true) && { bound: null }),
        how: how ?? `busy with an I/O; ${mbps(busiest.written)} written`,
      }),
    ];
  return [
    elementOf("slog", "SLOG", bandwidth, {
      used,
      capacity: null,
      how: how ?? "what it can take isn't known",
    }),
  ];
}

/** By the time that it is busy, where that was measured, else by what it moves. */
function busiestOf(loads: readonly DiskLoad[]): DiskLoad | undefined {
  const timed = loads.filter(({ busy }) => busy !== null);
  const most = (of: readonly DiskLoad[], value: (load: DiskLoad) => number): DiskLoad | undefined =>
    of.toSorted((a, b) => value(b) - value(a))[0];
  return most(timed, ({ busy }) => busy ?? 0) ?? most(loads, ({ read, written }) => read + written);
}

const isNvme = ({ disk }: DiskLoad): boolean => disk.startsWith("nvme");

/** All that passes between host and disks in the busier direction, over the slots of all HBAs together. */
function hba(evidence: Evidence, hardware: Hardware): Element[] {
  const { bandwidth, storage } = evidence;
  const slots = storage.pcie.filter(({ kind }) => kind === "hba");
  const stated = hardware.hba?.bandwidth;
  if (stated === undefined && slots.length === 0 && evidence.virtual) return [];
  const data = evidence.pool.disks.filter(({ role }) => role === "data");
  if (data.length > 0 && data.every(isNvme)) return [];
  const capacity = stated ?? (slots.length === 0 ? null : sum(slots.map(pcieRate)));
  const slotWords = slots.map((slot) => `${pcieName(slot)} (${mbps(pcieRate(slot))} of data)`).join(" + ");
  const over =
    stated !== undefined ? `${mbps(stated)} as stated` : slotWords || "an HBA whose slot isn't known";
  const { used, bound, how } = attached(evidence);
  return [
    elementOf("hba", slots.map(({ device }) => device).join(", ") || "HBA", bandwidth, {
      ...{ used, capacity, from: stated === undefined ? "read" : "stated" },
      ...(bound !== undefined && { bound: capacity === null || !bound ? null : capacity / bound }),
      how: `${how} over ${over}`,
    }),
  ];
}

/** MB/s over the HBA, and where that is by the layout alone, how often a byte of payload passes it. */
function attached(evidence: Evidence): { used: number | null; bound?: number | null; how: string } {
  const { bandwidth, pool, storage } = evidence;
  const behind = pool.disks.filter((disk) => !isNvme(disk));
  const cost =
    pool.layout === null
      ? null
      : passes(
          pool.layout,
          evidence,
          storage.pcie.some(({ kind }) => kind === "nvme"),
        );
  const expected = cost === null ? "" : `, by the layout ${figure(cost.least)} a byte (${cost.how})`;
  if (behind.length > 0) {
    const used = Math.max(sum(behind.map(({ read }) => read)), sum(behind.map(({ written }) => written)));
    const times = bandwidth ? `, ${figure(used / bandwidth)} a byte of payload` : "";
    return { used, how: `${mbps(used)} to or from ${behind.length} disks${times}${expected}` };
  }
  if (cost === null) return { used: null, bound: null, how: "what the disks moved wasn't measured" };
  if (bandwidth === null)
    return { used: null, bound: cost.least, how: `${figure(cost.least)} a byte of payload (${cost.how})` };
  return {
    ...{ used: bandwidth * cost.least, bound: cost.least },
    how: `${figure(cost.least)} times ${mbps(bandwidth)} by the layout (${cost.how})`,
  };
}

/** How often a byte of payload passes the HBA: the data vdevs' cost, and the SLOG's unless that is NVMe. */
function passes(layout: Layout, evidence: Evidence, nvme: boolean): { least: number; how: string } | null {
  const load = loadOf(evidence);
  const direction = directionIn(evidence);
  if (direction === "mixed") return null;
  if (direction === "read") {
    const part = missed(evidence);
    const cost = readCost(layout, load);
    if (part === null) return null;
    return { least: part * cost.least, how: `${figure(part * 100)} % not from ARC; ${cost.how}` };
  }
  const cost = writeCost(layout, load);
  const log = logCost(layout, load);
  if (cost === null || log === null) return cost;
  const logs = evidence.pool.disks.filter(({ role }) => role === "log");
  if (logs.length > 0 ? logs.every(isNvme) : nvme) return { ...cost, how: `${cost.how}; the SLOG is NVMe` };
  return { least: cost.least + log.least, how: `${cost.how}; ${log.how}` };
}

/** The busiest data disk: one that is slower than the others holds its vdev, and soon the pool, back. */
function disks(evidence: Evidence, hardware: Hardware): Element {
  const { bandwidth } = evidence;
  const { sequential: rate } = diskRates(evidence, hardware);
  const data = evidence.pool.disks.filter(({ role }) => role === "data");
  const busiest = busiestOf(data);
  if (busiest?.busy != null) {
    const { disk, vdev, read, written, operations, rotational } = busiest;
    const flash = rotational === true ? "" : "; a disk that serves several at once isn't full at 100 %";
    return elementOf("disks", `${disk} in ${vdev}`, bandwidth, {
      ...{ used: busiest.busy, capacity: 100, unit: "%" },
      ...(rotational !== true && { bound: null }),
      how: `busiest of ${data.length}: ${mbps(read + written)} in ${figure(operations)} I/Os a second${flash}`,
    });
  }
  if (busiest !== undefined)
    return elementOf("disks", `${busiest.disk} in ${busiest.vdev}`, bandwidth, {
      ...{ used: busiest.read + busiest.written, capacity: rate.value, from: rate.from },
      how: `busiest of ${data.length}; ${rate.how}`,
    });
  const { layout } = evidence.pool;
  const cost =
    layout === null || directionIn(evidence) !== "write" ? null : writeCost(layout, loadOf(evidence));
  const count = layout === null ? 0 : disksOf(dataVdevs(layout));
  const used = cost === null || bandwidth === null ? null : (bandwidth * cost.least) / count;
  return elementOf("disks", count === 0 ? "disks" : `each of ${count} disks`, bandwidth, {
    ...{ used, capacity: rate.value, from: rate.from },
    how: `no disk was measured; ${cost === null ? "" : `${cost.how}, spread evenly; `}${rate.how}`,
  });
}
