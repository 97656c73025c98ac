import type { ElementName } from "../schema/diagnosis.ts";
import type { Run } from "../schema/result.ts";
import type { RunSpec } from "../schema/test.ts";
import type { Protocol } from "../schema/words.ts";

/** Figures and names as people read them. */

export const protocolNames: Record<Protocol, string> = { iscsi: "iSCSI", iser: "iSER" };

export const virtualNote =
  "These hosts are guests under software emulation. Their figures show that everything functions and how the tool measures; they do not show that RDMA is faster, or how fast any hardware is.";

/** Three digits that count: 2,729 · 431 · 21.3 · 0.42 · 0.0042; a nonzero value never reads as zero. */
export function figure(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < 0.095) return String(Number(value.toPrecision(2)));
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A number that was given whole stays whole: 2 disks, not 2.00. */
export const given = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 5 });

export const count = (value: number): string => Math.round(value).toLocaleString("en-US");
export const percent = (value: number): string => `${value.toFixed(0)} %`;
/** What was not measured is a dash, never a zero. */
export const orDash = (
  value: number | null | undefined,
  words: (value: number) => string = figure,
): string => (value === null || value === undefined ? "–" : words(value));

/** In the binary unit that leaves a figure of at least one. */
export function size(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 2 ** (10 * power);
  return `${Number.isInteger(value) ? value.toLocaleString("en-US") : figure(value)} ${units[power]}`;
}

/** 42 s · 3 min 5 s · 2 h 10 min */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** 2026-11-20T09:08:11Z as 2026-11-20 09:08 UTC */
export const moment = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;

/** The label of a reference lab in a table's head: lab-a is Lab A. */
export const labName = (name: string): string =>
  name.replace(/^lab-(.)$/, (_, letter) => `Lab ${letter.toUpperCase()}`);

type Part = (spec: RunSpec) => string;
/** What two runs may differ by, apart from protocol and test; only fio's kind has blocks and depths. */
const parts: readonly Part[] = [
  ({ test }) => test.workload,
  ({ test }) => (test.kind === "fio" ? size(test.blockSize) : ""),
  ({ test }) => (test.kind === "fio" ? `depth ${test.depth}` : ""),
  ({ test }) => (test.kind === "fio" ? (test.jobs === 1 ? "1 job" : `${test.jobs} jobs`) : ""),
  ({ test }) => (test.kind === "fio" ? `ARC ${test.arc}` : ""),
  ({ test }) => (test.kind === "fio" && test.sync !== "none" ? test.sync : ""),
  ({ repeat }) => `#${repeat}`,
];

/** A name for each run, by id: as short as tells them apart. iSER write; iSER read-iops 4 KiB depth 8 #2. */
export function titlesOf(runs: readonly Pick<Run, "spec">[]): ReadonlyMap<string, string> {
  const base = ({ protocol, test }: RunSpec): string => {
    const memory = test.kind === "fio" && test.backstore === "ramdisk" ? ", RAM disk" : "";
    return `${protocolNames[protocol]} ${test.test}${memory}`;
  };
  return new Map(
    runs.map(({ spec }) => {
      const alike = runs.filter((other) => base(other.spec) === base(spec));
      const differing = parts.filter((part) => new Set(alike.map((other) => part(other.spec))).size > 1);
      return [spec.id, [base(spec), ...differing.map((part) => part(spec))].filter(Boolean).join(" ")];
    }),
  );
}

/** What limits, as a reader would say it. */
export const elementNames: Record<ElementName, string> = {
  "client core": "one core of the client",
  "client cpu": "the client's CPUs",
  link: "the link",
  "storage core": "one core of the storage host",
  "storage cpu": "the storage host's CPUs",
  arc: "the ARC",
  pool: "the pool",
  slog: "the SLOG",
  hba: "the HBA",
  disks: "the disks",
};

/** What ran, apart from the protocol and the repeat: runs of one such key are drawn in one chart. */
export const testKey = ({ spec }: Pick<Run, "spec">): string => JSON.stringify(spec.test);

/** A test in a sentence's end: 512 KiB blocks, depth 16, 1 job, file of 100 GiB, 180 s. */
export function testWords({ test }: RunSpec): string {
  if (test.kind === "files")
    return `${count(test.files)} files of ${size(test.fileSize)} over ${count(test.folders)} directories, one thread`;
  if (test.kind === "io500")
    return `phases of the IO500's kind, ${test.seconds} s each, at most ${size(test.size)} and ${count(test.files)} files`;
  return [
    `${test.operation}${test.readShare === null ? "" : ` (${test.readShare} % reads)`}`,
    `${size(test.blockSize)} blocks`,
    `depth ${test.depth}`,
    test.jobs === 1 ? "1 job" : `${test.jobs} jobs`,
    ...(test.sync === "none" ? [] : [`${test.sync} after each write`]),
    ...(test.rateIops === null ? [] : [`at most ${count(test.rateIops)} IOPS a client`]),
    `file of ${size(test.size)} on each client`,
    `${test.runtime} s${test.rampTime > 0 ? ` after ${test.rampTime} s of ramp` : ""}`,
    `ARC ${test.arc}`,
    ...(test.backstore === "ramdisk" ? ["LUN in the storage host's memory"] : []),
  ].join(", ");
}
