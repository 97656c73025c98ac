import { z } from "zod";
import { filesystemInputs } from "./provider/resources/fs/filesystem.ts";
import { chapInputs } from "./provider/resources/iscsi/chap.ts";
import { targetInputs } from "./provider/resources/lio/target.ts";
import { cloneInputs } from "./provider/resources/zfs/clone.ts";
import { datasetInputs } from "./provider/resources/zfs/dataset.ts";
import { poolInputs } from "./provider/resources/zfs/pool.ts";
import { snapshotInputs } from "./provider/resources/zfs/snapshot.ts";
import { volumeInputs } from "./provider/resources/zfs/volume.ts";
import { formatSize, parseSize } from "./provider/size.ts";
import { type Base, takenOver } from "./stack-file/base.ts";
import { benchmark } from "./stack-file/benchmark.ts";
import { type Problem, problems } from "./stack-file/problems.ts";
import { crossChecks } from "./stack-file/rules.ts";
import { secretsInClear } from "./stack-file/secrets.ts";
import { disksOf, vdevs } from "./stack-file/vdevs.ts";
import * as words from "./stack-file/words.ts";

/**
 * The stack file's schema: what an operator may write under `storage-lab:` in Pulumi.STACK.yaml, in one place,
 * with the only set of defaults. An error names the key path, the rule and the value.
 */

const { size, iqn, portal, inYaml, yamlWords } = words;
const word = inYaml(z.string());
const host = z.strictObject({
  ssh: z.string().optional().describe("What `ssh` accepts: user@host or an alias of ssh_config(5)."),
  sudo: z.boolean().optional().describe("The login is no root: run everything by `sudo -n`. Default: false."),
  virtual: z
    .strictObject({
      memory: size.default("1536 MiB").describe("Memory of the guest."),
      disks: z
        .string()
        .regex(/^\d+ x .+$/, "disks of a virtual host are COUNT x SIZE, such as 8 x 2 GiB")
        .transform((text, context) => {
          const [, count = "", each = ""] = /^(\d+) x (.+)$/.exec(text) ?? [];
          const problem = words.sizeProblem(each) ?? tooSmall(each);
          if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
          return Array.from({ length: Number(count) }, (_, n) => ({
            serial: `DISK${String(n + 1).padStart(2, "0")}`,
            size: each,
          }));
        })
        .optional()
        .describe("COUNT x SIZE, such as 8 x 2 GiB; in the guest by-id/virtio-DISK01, …. Default: none."),
    })
    .optional()
    .describe("A QEMU guest on this machine; at most two hosts of a lab are."),
  iqn: iqn.optional().describe("The host's name as an iSCSI initiator; needed where a target lists it."),
});

/** ZFS takes no device below 64 MiB (SPA_MINDEVSIZE). */
function tooSmall(text: string): string | undefined {
  const [bytes, least] = [parseSize(text) ?? 0n, 67108864n];
  if (bytes >= least) return undefined;
  return `a disk of ${text} (${bytes} bytes) is too small for ZFS; the smallest is ${formatSize(least)} (${least} bytes)`;
}

const {
  host: _poolHost,
  name: _poolName,
  vdevs: _vdevs,
  ashift: _ashift,
  wipe: _wipe,
  offline: offlineDisks,
  ...poolFields
} = yamlWords(poolInputs.shape);
const pool = z.strictObject({
  host: z.string().describe("The host that has the disks, a key of hosts."),
  data: z.union([vdevs, z.array(vdevs).min(1)]).describe("The vdevs that hold data."),
  log: vdevs.optional().describe("SLOG: stripe or mirror."),
  cache: vdevs.optional().describe("L2ARC; stripe."),
  special: vdevs.optional().describe("Metadata and small blocks; holds pool data for good."),
  dedup: vdevs.optional().describe("Deduplication tables; holds pool data for good."),
  spare: vdevs.optional().describe("Hot spares; stripe."),
  ashift: z
    .number()
    .int()
    .min(9)
    .max(16)
    .default(12)
    .describe("Sector size as a power of two: 9 = 512 B, 12 = 4 KiB."),
  ...poolFields,
  properties: z
    .record(z.string(), word)
    .optional()
    .describe("Properties of the pool, zpoolprops(7). Left out: left alone."),
  filesystemProperties: z
    .record(z.string(), word)
    .optional()
    .describe(
      "Properties of the root dataset, zfsprops(7), inherited by what is in the pool. Left out: left alone.",
    ),
  offline: disksOf(offlineDisks.description ?? ""),
  wipe: disksOf("Disks whose contents may be lost; every other disk must be empty."),
  onDelete: poolFields.onDelete.default("export"),
});

/** The fields of a type, as YAML gives them: host and name stand elsewhere. */
const { host: _vh, name: _vn, ...volumeFields } = yamlWords(volumeInputs.shape);
const { host: _dh, name: _dn, ...datasetFields } = yamlWords(datasetInputs.shape);
const { host: _sh, name: _sn, ...snapshotFields } = yamlWords(snapshotInputs.shape);
const { host: _ch, name: _cn, ...cloneFields } = yamlWords(cloneInputs.shape);

const volume = z
  .strictObject({
    ...volumeFields,
    volblocksize: inYaml(size)
      .default("16 KiB")
      .describe("Block size, a power of two from 512 B to 128 KiB."),
    sparse: z.boolean().default(false).describe("No space is reserved."),
    size: inYaml(size).describe(
      "Size, IEC or zfs notation: 200 GiB = 200G. A whole multiple of volblocksize. Grows in place.",
    ),
    onDelete: volumeFields.onDelete.default("retain"),
  })
  .superRefine((v, context) => {
    const block = parseSize(v.volblocksize) ?? 0n;
    const bytes = parseSize(v.size);
    if (block < 512n || block > 131072n || (block & (block - 1n)) !== 0n) {
      context.addIssue({
        code: "custom",
        path: ["volblocksize"],
        message: `${v.volblocksize} is no power of two from 512 B to 128 KiB`,
      });
    } else if (bytes !== undefined && (bytes === 0n || bytes % block !== 0n)) {
      const next = ((bytes + block - 1n) / block) * block;
      context.addIssue({
        code: "custom",
        path: ["size"],
        message: `${v.size} (${bytes} bytes) is no whole multiple of volblocksize ${v.volblocksize}; the next is ${formatSize(next)} (${next} bytes)`,
      });
    }
  });
const dataset = z.strictObject({ ...datasetFields, onDelete: datasetFields.onDelete.default("retain") });
const snapshot = z.strictObject({ ...snapshotFields, onDelete: snapshotFields.onDelete.default("retain") });
const clone = z.strictObject({ ...cloneFields, onDelete: cloneFields.onDelete.default("retain") });

const link = z
  .strictObject({
    kind: z
      .enum(["rxe", "roce", "ipoib"])
      .describe("rxe = soft-RoCE over any Ethernet; roce = an RDMA NIC; ipoib = InfiniBand."),
    device: words.oneOrEach.describe(
      "The network interface: one name for all hosts, or HOST: NAME for each.",
    ),
    rdma: words.oneOrEach
      .optional()
      .describe(
        "The RDMA device behind it as `rdma link` names it, one name or one a host; rxe makes its own, rxe0.",
      ),
    mode: z.enum(["datagram", "connected"]).optional().describe("IPoIB only. Left out: left alone."),
    mtu: z.number().int().min(576).max(65520).optional().describe("In bytes. Left out: left alone."),
    addresses: z.record(z.string(), words.cidr).describe("HOST: ADDRESS/PREFIX, IPv4 or IPv6."),
  })
  .superRefine((l, context) => {
    if (l.mode !== undefined && l.kind !== "ipoib")
      context.addIssue({
        code: "custom",
        path: ["mode"],
        message: `mode is for ipoib; the link's kind is ${l.kind}`,
      });
  });

const { password } = chapInputs.shape;
const user = inYaml(chapInputs.shape.user);
const chap = z.strictObject({
  user: user.describe("The name that the initiator gives."),
  password,
  mutual: z
    .strictObject({
      user: user.describe("The name that the target gives in turn."),
      password: password.describe("The target's secret, a Pulumi secret; differs from the initiator's."),
    })
    .optional()
    .describe("The target proves itself to the initiators, too. Default: it does not."),
});

const target = z.strictObject({
  luns: z.array(z.string()).min(1).describe("Volumes (and clones of volumes) of one host, LUN 0 first."),
  ramdisk: inYaml(size)
    .optional()
    .describe(
      "Size of a RAM disk of LIO (rd_mcp) that the target has as LUN 255, so that workload transport measures the fabric without pool and disks: 256 MiB. It takes that much of the host's memory, at most half, and its contents are lost when the host restarts. To change the size, leave it out for one up, with dropSessions where initiators are logged in. Default: none.",
    ),
  portals: z
    .strictObject({
      iscsi: portal.describe("ADDRESS:PORT for iSCSI over TCP, IPv6 in brackets."),
      iser: portal.describe("ADDRESS:PORT for iSER; another one than iscsi's."),
    })
    .describe("Where the target listens, at addresses of fabric."),
  initiators: z.array(z.string()).min(1).describe("Hosts that may log in, and do."),
  dropSessions: targetInputs.shape.dropSessions,
  chap: chap
    .optional()
    .describe(
      "CHAP, for the target and all of its initiators. Its passwords are set by `pulumi config set --secret --path`. Default: none.",
    ),
});

/** Named things: what is left out of a stack file is none. */
const named = <K extends z.ZodType<string, string>, T extends z.ZodType>(key: K, value: T) =>
  z.record(key, value).default({} as never);

/** `none` leaves out what the base has. */
const orNone = <T extends z.ZodType>(schema: T) =>
  z.union([schema, z.literal("none").transform(() => undefined)]).optional();

export const stackFile = z.strictObject({
  base: z
    .string()
    .regex(/^[A-Za-z0-9_.-]+$/, "the name of another stack file: lab for Pulumi.lab.yaml")
    .optional()
    .describe(
      "Another stack, whose file stands in for each key (hosts, pools, …) that this one leaves out; keys are taken whole. Default: none.",
    ),
  hosts: z
    .record(
      z.string().regex(/^[a-z][a-z0-9-]*$/, "a host's name is lower-case letters, digits and dashes"),
      host,
    )
    .describe("The hosts by name; each has either ssh or virtual."),
  pools: named(z.string(), pool).describe("The pools by name."),
  datasets: named(z.string(), dataset).describe(
    "File systems by full name, POOL/NAME, and datasets that only group what lies deeper.",
  ),
  volumes: named(z.string(), volume).describe(
    "Volumes (zvols) by full name, POOL/NAME; one that lies deeper needs its parents in datasets.",
  ),
  snapshots: named(z.string(), snapshot).describe(
    "Snapshots by full name, POOL/NAME@SNAPSHOT; taken once, when they are first declared.",
  ),
  clones: named(z.string(), clone).describe(
    "Clones by full name, POOL/NAME; a clone of a volume may be a LUN.",
  ),
  fabric: named(z.string(), link).describe("Networks between the hosts, by a name of your choice."),
  targets: named(iqn, target).describe(
    "iSCSI targets by IQN. The benchmark measures the first by name, unless it lists some.",
  ),
  filesystem: orNone(
    z.strictObject({
      type: z.literal("xfs").default("xfs").describe("Kind of file system."),
      label: filesystemInputs.shape.label,
      uuid: filesystemInputs.shape.uuid,
      mount: z
        .string()
        .regex(/^\/[^\s]+$/, "an absolute path")
        .default("/test")
        .describe("Where the benchmark mounts it, seen by nothing else."),
    }),
  ).describe("On LUN 0 of each target, made by its first initiator. Left out, or none: LUNs stay blank."),
  benchmark: orNone(benchmark).describe("Left out, or none: nothing is measured."),
});
export type LabConfig = z.infer<typeof stackFile>;
export type PoolConfig = LabConfig["pools"][string];
export type TargetConfig = LabConfig["targets"][string];

/** What comes with a stack's settings: its base's file, and which settings Pulumi holds as secrets. */
export type Beside = { base?: Base | undefined; secretKeys?: readonly string[] | undefined };

/** A stack file's settings (`storage-lab:hosts` → its JSON or text), checked; every problem in one error. */
export function parseConfig(
  settings: Record<string, string>,
  stackName: string,
  { base, secretKeys }: Beside = {},
): LabConfig {
  const own = Object.fromEntries(
    Object.entries(settings)
      .filter(([key]) => key.startsWith("storage-lab:"))
      .map(([key, text]) => [key.slice("storage-lab:".length), jsonOr(text)]),
  );
  const inherited = takenOver(own, stackName, base);
  const all = { ...inherited.values, ...own };
  const parsed = stackFile.safeParse(all);
  const wrong: Problem[] = [
    ...inherited.wrong,
    ...(parsed.success
      ? [...crossChecks(parsed.data), ...secretsInClear(parsed.data, secretKeys)]
      : parsed.error.issues.flatMap((issue) => problems(issue, all))),
  ];
  if (wrong.length > 0 || !parsed.success) {
    const from = (path: string): string =>
      (path.split(".")[0] ?? "") in inherited.values ? ` (in Pulumi.${base?.stack}.yaml)` : "";
    const lines = wrong.map(([path, sentence]) => `  storage-lab:${path}${from(path)}: ${sentence}`);
    throw new RangeError(`Pulumi.${stackName}.yaml is not right; nothing was touched.\n${lines.join("\n")}`);
  }
  return parsed.data;
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
