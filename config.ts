import { z } from "zod";
import { expandBraces, vdevsOf } from "./components/layout.ts";
import { volumeInputs } from "./provider/resources/zfs/volume.ts";
import { formatSize, parseSize } from "./provider/size.ts";

/**
 * The stack file's schema: what an operator may write under `storage-lab:` in Pulumi.STACK.yaml, in one place,
 * with the only set of defaults. An error names the key path, the rule and the value.
 */

/** YAML reads a bare `off` or `on` as a truth value in some versions; ZFS has them as words. */
const onOff = <T extends z.ZodType>(schema: T) =>
  z.preprocess((v) => (v === false ? "off" : v === true ? "on" : v), schema);
const word = onOff(z.string());

const size = z.string().refine((text) => parseSize(text) !== undefined, {
  error: (issue) =>
    `${JSON.stringify(issue.input)} is no size: write a number with an IEC unit (200 GiB, 16 KiB) or zfs notation (200G)`,
});

const seconds = z
  .string()
  .regex(/^\d+\s*s$/, "a time is whole seconds, such as 180 s")
  .transform((text) => Number.parseInt(text, 10));

const iqn = z.string().regex(/^iqn\.\d{4}-(0[1-9]|1[0-2])\.[a-z0-9-]+(\.[a-z0-9-]+)+(:[a-z0-9.:-]+)?$/, {
  error: (issue) =>
    `${JSON.stringify(issue.input)} is no IQN: iqn.YYYY-MM.REVERSED.DOMAIN[:NAME], lower case, no blank, no _ (RFC 7143)`,
});

const patterns = z
  .union([z.string(), z.array(z.string()).min(1)])
  .transform((p) => (Array.isArray(p) ? p : [p]));

const layoutKinds = ["stripe", "mirror", "raidz1", "raidz2", "raidz3"] as const;
const width = z.number().int().positive();

const vdevs = z
  .strictObject({
    disks: patterns.describe("Names under /dev/disk (by-id/…), with {01..24} and {a,b} for many."),
    stripe: width.optional().describe("Single disks."),
    mirror: width.optional().describe("Sides of each mirror."),
    raidz1: width.optional().describe("Disks of each RAID-Z1 vdev, parity included."),
    raidz2: width.optional().describe("Disks of each RAID-Z2 vdev, parity included."),
    raidz3: width.optional().describe("Disks of each RAID-Z3 vdev, parity included."),
    spread: z.literal("enclosure").optional().describe("Deal each vdev's disks over the enclosures."),
  })
  .transform((layout, context) => {
    const kinds = layoutKinds.filter((kind) => layout[kind] !== undefined);
    const [kind] = kinds;
    if (kinds.length !== 1 || kind === undefined) {
      const found = kinds.length === 0 ? "none" : kinds.join(" and ");
      context.addIssue({
        code: "custom",
        message: `one of ${layoutKinds.join(", ")} says the layout; found ${found}`,
      });
      return z.NEVER;
    }
    try {
      const groups = vdevsOf(
        layout.disks,
        kind === "stripe" ? 1 : (layout[kind] ?? 1),
        layout.spread !== undefined,
      );
      return groups.map((disks) => ({ type: kind, disks: disks.map(diskPath) }));
    } catch (error) {
      context.addIssue({ code: "custom", path: ["disks"], message: (error as Error).message });
      return z.NEVER;
    }
  });

const diskPath = (disk: string): string => (disk.startsWith("/") ? disk : `/dev/disk/${disk}`);

const host = z.strictObject({
  ssh: z.string().optional().describe("What `ssh` accepts: user@host or an alias of ssh_config(5)."),
  sudo: z.boolean().optional().describe("The login is no root: run everything by `sudo -n`."),
  virtual: z
    .strictObject({
      memory: size.default("1536 MiB").describe("Memory of the guest."),
      disks: z
        .string()
        .regex(/^\d+ x .+$/, "disks of a virtual host are COUNT x SIZE, such as 8 x 2 GiB")
        .transform((text, context) => {
          const [, count = "", each = ""] = /^(\d+) x (.+)$/.exec(text) ?? [];
          if (parseSize(each) === undefined)
            context.addIssue({ code: "custom", message: `${each} is no size` });
          return Array.from({ length: Number(count) }, (_, n) => ({
            serial: `DISK${String(n + 1).padStart(2, "0")}`,
            size: each,
          }));
        })
        .optional()
        .describe("COUNT x SIZE; in the guest by-id/virtio-DISK01, …"),
    })
    .optional()
    .describe("A QEMU guest on this machine."),
  iqn: iqn.optional().describe("The host's name as an iSCSI initiator; needed where a target lists it."),
});

const pool = z.strictObject({
  host: z.string(),
  data: z.union([vdevs, z.array(vdevs).min(1)]).describe("The vdevs that hold data."),
  log: vdevs.optional().describe("SLOG."),
  cache: vdevs.optional().describe("L2ARC; stripe."),
  special: vdevs.optional().describe("Metadata and small blocks; holds pool data for good."),
  dedup: vdevs.optional(),
  spare: vdevs.optional().describe("Hot spares; stripe."),
  ashift: z.number().int().min(9).max(16).default(12).describe("log2 of the sector size."),
  properties: z.record(z.string(), word).optional().describe("Pool properties, zpoolprops(7)."),
  filesystemProperties: z
    .record(z.string(), word)
    .optional()
    .describe("Properties of the root dataset, zfsprops(7)."),
  wipe: patterns
    .transform((list, context) => {
      try {
        return list.flatMap(expandBraces).map(diskPath);
      } catch (error) {
        context.addIssue({ code: "custom", message: (error as Error).message });
        return z.NEVER;
      }
    })
    .optional()
    .describe("Disks whose contents may be lost; every other disk must be empty."),
  onDelete: z.enum(["export", "destroy"]).default("export"),
});

const { host: _host, name: _name, ...volumeFields } = volumeInputs.shape;
const volume = z
  .strictObject({
    ...volumeFields,
    volblocksize: size.default("16 KiB").describe("A power of two from 512 B to 128 KiB."),
    sparse: z.boolean().default(false).describe("No space is reserved."),
    size: size.describe("A whole multiple of volblocksize."),
    compression: onOff(volumeFields.compression),
    checksum: onOff(volumeFields.checksum),
    dedup: onOff(volumeFields.dedup),
    readonly: onOff(volumeFields.readonly),
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
        message: `${v.size} (${bytes} bytes) is no whole multiple of volblocksize ${v.volblocksize}; the next is ${formatSize(next)}`,
      });
    }
  });

const cidr = z.union([z.cidrv4(), z.cidrv6()], {
  error: (issue) =>
    `${JSON.stringify(issue.input)} is no address with a prefix length, such as 10.10.10.1/24`,
});
const portal = z.string().regex(/^(\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:]+\]):\d{1,5}$/, {
  error: (issue) => `${JSON.stringify(issue.input)} is no portal: ADDRESS:PORT, IPv6 in brackets`,
});

/** One name for all hosts, or one a host. */
const oneOrEach = z.union([z.string(), z.record(z.string(), z.string())]);
export const nameOn = (names: z.infer<typeof oneOrEach> | undefined, host: string): string | undefined =>
  typeof names === "string" ? names : names?.[host];

const link = z
  .strictObject({
    kind: z
      .enum(["rxe", "roce", "ipoib"])
      .describe("rxe = soft-RoCE over any Ethernet; roce = an RDMA NIC; ipoib = InfiniBand."),
    device: oneOrEach.describe("The network interface."),
    rdma: oneOrEach
      .optional()
      .describe("The RDMA device behind it as `rdma link` names it; rxe makes its own, rxe0."),
    mode: z.enum(["datagram", "connected"]).optional().describe("IPoIB only."),
    mtu: z.number().int().min(576).max(65520).optional(),
    addresses: z.record(z.string(), cidr),
  })
  .superRefine((l, context) => {
    if (l.mode !== undefined && l.kind !== "ipoib")
      context.addIssue({
        code: "custom",
        path: ["mode"],
        message: `mode is for ipoib; the link's kind is ${l.kind}`,
      });
  });

const target = z.strictObject({
  luns: z.array(z.string()).min(1).describe("Volumes, LUN 0 first."),
  portals: z.strictObject({
    iscsi: portal.describe("ADDRESS:PORT for iSCSI over TCP."),
    iser: portal.describe("ADDRESS:PORT for iSER; another one than iscsi's."),
  }),
  initiators: z.array(z.string()).min(1).describe("Hosts that may log in, and do."),
});

const stack = z.strictObject({
  hosts: z.record(
    z.string().regex(/^[a-z][a-z0-9-]*$/, "a host's name is lower-case letters, digits and dashes"),
    host,
  ),
  pools: z.record(z.string(), pool),
  volumes: z.record(z.string(), volume),
  fabric: z.record(z.string(), link),
  targets: z.record(iqn, target),
  filesystem: z.strictObject({
    type: z.literal("xfs").default("xfs"),
    mount: z
      .string()
      .regex(/^\/[^\s]+$/, "an absolute path")
      .default("/test"),
  }),
  benchmark: z
    .strictObject({
      workload: z.literal("sequential").default("sequential"),
      size: size.default("100 GiB").describe("The test file."),
      runtime: seconds.default(180).describe("Of each run."),
      blockSize: size.default("512 KiB"),
      depth: z.number().int().positive().default(16).describe("fio's iodepth."),
    })
    .optional()
    .describe("Left out = nothing is measured."),
});
export type LabConfig = z.infer<typeof stack>;
export type VdevLayout = { type: (typeof layoutKinds)[number]; disks: string[] };

/** Rules over several parts of a stack file: [key path, sentence]. */
function crossChecks(lab: LabConfig): [path: string, sentence: string][] {
  const wrong: [string, string][] = [];
  const known = (kind: string, names: object): string =>
    `; ${kind}: ${Object.keys(names).join(", ") || "none"}`;
  for (const [name, h] of Object.entries(lab.hosts)) {
    if ((h.ssh === undefined) === (h.virtual === undefined))
      wrong.push([`hosts.${name}`, "a host has either ssh or virtual"]);
  }
  for (const [name, p] of Object.entries(lab.pools)) {
    const on = lab.hosts[p.host];
    if (on === undefined) wrong.push([`pools.${name}.host`, `no host ${p.host}${known("hosts", lab.hosts)}`]);
    const all = poolVdevs(p).flatMap((vdev) => vdev.disks);
    for (const disk of new Set(all.filter((d, n) => all.indexOf(d) !== n)))
      wrong.push([`pools.${name}`, `disk ${disk} is used twice`]);
    const there = on?.virtual?.disks?.map(({ serial }) => `/dev/disk/by-id/virtio-${serial}`);
    for (const disk of all) {
      if (there !== undefined && !there.includes(disk))
        wrong.push([
          `pools.${name}`,
          `virtual host ${p.host} has no disk ${disk}; it has ${there.length}: ${there[0]} …`,
        ]);
    }
  }
  for (const name of Object.keys(lab.volumes)) {
    const [poolName = "", ...rest] = name.split("/");
    if (lab.pools[poolName] === undefined) {
      wrong.push([
        `volumes.${name}`,
        `a volume is POOL/NAME, and there is no pool ${poolName}${known("pools", lab.pools)}`,
      ]);
    } else if (rest.length !== 1 || rest[0] === "") {
      wrong.push([
        `volumes.${name}`,
        "a volume lies right in its pool, POOL/NAME: nothing here makes the datasets between",
      ]);
    }
  }
  for (const [name, l] of Object.entries(lab.fabric)) {
    for (const h of Object.keys(l.addresses)) {
      if (lab.hosts[h] === undefined)
        wrong.push([`fabric.${name}.addresses.${h}`, `no host ${h}${known("hosts", lab.hosts)}`]);
      else if (nameOn(l.device, h) === undefined)
        wrong.push([`fabric.${name}.device`, `no interface is named for host ${h}`]);
      else if (l.kind !== "rxe" && nameOn(l.rdma, h) === undefined)
        wrong.push([
          `fabric.${name}.rdma`,
          `missing for host ${h}: the ${l.kind} device, as \`rdma link\` names it`,
        ]);
    }
  }
  for (const [name, t] of Object.entries(lab.targets)) {
    for (const lun of t.luns)
      if (lab.volumes[lun] === undefined)
        wrong.push([`targets.${name}.luns`, `no volume ${lun}${known("volumes", lab.volumes)}`]);
    const servers = new Set(t.luns.map((lun) => lab.pools[lun.split("/")[0] ?? ""]?.host));
    const [server] = servers;
    if (servers.size > 1)
      wrong.push([`targets.${name}.luns`, `they are on different hosts: ${[...servers].join(", ")}`]);
    for (const [protocol, address] of Object.entries(t.portals)) {
      const ip = address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
      const own = Object.values(lab.fabric).flatMap((l) =>
        server !== undefined && l.addresses[server] ? [l.addresses[server].split("/")[0]] : [],
      );
      if (!own.includes(ip))
        wrong.push([
          `targets.${name}.portals.${protocol}`,
          `${ip} is no address of ${server} in fabric (${own.join(", ") || "it has none"})`,
        ]);
    }
    if (t.portals.iscsi === t.portals.iser)
      wrong.push([
        `targets.${name}.portals.iser`,
        `${t.portals.iser} is the iSCSI portal too: LIO serves one protocol a portal`,
      ]);
    for (const h of t.initiators) {
      if (lab.hosts[h] === undefined)
        wrong.push([`targets.${name}.initiators`, `no host ${h}${known("hosts", lab.hosts)}`]);
      else if (lab.hosts[h].iqn === undefined)
        wrong.push([`hosts.${h}.iqn`, `missing: target ${name} lists this host as an initiator`]);
    }
  }
  const guests = Object.keys(lab.hosts).filter((h) => lab.hosts[h]?.virtual);
  if (guests.length > 2) {
    wrong.push([
      "hosts",
      `the virtual link joins two guests; ${guests.length} are virtual: ${guests.join(", ")}`,
    ]);
  }
  const names = Object.entries(lab.hosts).flatMap(([h, { iqn: n }]) =>
    n === undefined ? [] : [[h, n] as const],
  );
  for (const [h, n] of names) {
    const other = names.find(([h2, n2]) => h2 < h && n2 === n)?.[0];
    if (other !== undefined)
      wrong.push([
        `hosts.${h}.iqn`,
        `${n} is ${other}'s as well: two hosts of one name throw each other out`,
      ]);
  }
  return wrong;
}

export const poolVdevs = (
  p: LabConfig["pools"][string],
): (VdevLayout & { role: "data" | "log" | "cache" | "special" | "dedup" | "spare" })[] =>
  (["data", "special", "dedup", "log", "cache", "spare"] as const).flatMap((role) => {
    const given = p[role];
    const groups: VdevLayout[] = given === undefined ? [] : given.flat();
    return groups.map((vdev) => ({ role, ...vdev }));
  });

/** A stack file's settings (`storage-lab:hosts` → its JSON or text), checked; every problem in one error. */
export function parseConfig(settings: Record<string, string>, stackName: string): LabConfig {
  const raw = Object.fromEntries(
    Object.entries(settings)
      .filter(([key]) => key.startsWith("storage-lab:"))
      .map(([key, text]) => [key.slice("storage-lab:".length), jsonOr(text)]),
  );
  const parsed = stack.safeParse(raw);
  const wrong: [string, string][] = parsed.success
    ? crossChecks(parsed.data)
    : parsed.error.issues.flatMap((issue) => problems(issue, []));
  if (wrong.length > 0 || !parsed.success) {
    const lines = wrong.map(([path, sentence]) => `  storage-lab:${path}: ${sentence}`);
    throw new RangeError(`Pulumi.${stackName}.yaml is not right; nothing was touched.\n${lines.join("\n")}`);
  }
  return parsed.data;
}

/** An issue as [key path, sentence], one for each cause: a union's branch that fits best, a key that is wrong. */
function problems(
  issue: z.core.$ZodIssue,
  above: readonly PropertyKey[],
): [path: string, sentence: string][] {
  const path = [...above, ...issue.path];
  const at = (...more: string[]): string => [...path, ...more].map(String).join(".");
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [at(key), "there is no such key"]);
  if (issue.code === "invalid_key") return [[at(), issue.issues[0]?.message ?? issue.message]];
  if (issue.code === "invalid_union" && issue.message === "Invalid input") {
    const other = (branch: z.core.$ZodIssue[]): boolean =>
      branch.some(({ code, path: inside }) => code === "invalid_type" && inside.length === 0);
    const best = issue.errors.find((branch) => !other(branch)) ?? [];
    if (best.length > 0) return best.flatMap((inner) => problems(inner, path));
  }
  if (issue.code === "invalid_type" && issue.input === undefined)
    return [[at(), `missing (${issue.expected})`]];
  return [[at(), issue.message]];
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
