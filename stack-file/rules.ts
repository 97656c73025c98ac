import { backstoreName, chapOf, ramdiskName, serverOf } from "../components/iscsi-inputs.ts";
import type { LabConfig } from "../config.ts";
import { chapRules } from "../provider/resources/iscsi/chap.ts";
import { ramdiskRules } from "../provider/resources/lio/ramdisk.ts";
import { normalInterfaceAddress, normalPortal, parsePortal } from "../provider/resources/net/address.ts";
import { benchmarkRules } from "./benchmark-rules.ts";
import { known, noHost, type Problem } from "./problems.ts";
import { nameOn } from "./words.ts";
import { zfsRules } from "./zfs-rules.ts";

/** Rules over several parts of a stack file, and those that the resource types have of their own. */
export const crossChecks = (lab: LabConfig): Problem[] => [
  ...hostRules(lab),
  ...zfsRules(lab),
  ...fabricRules(lab),
  ...targetRules(lab),
  ...filesystemRules(lab),
  ...benchmarkRules(lab),
];

function hostRules({ hosts }: LabConfig): Problem[] {
  const wrong: Problem[] = [];
  const names = Object.entries(hosts).flatMap(([host, { iqn }]) =>
    iqn === undefined ? [] : [{ host, iqn }],
  );
  for (const [name, { ssh, virtual }] of Object.entries(hosts)) {
    if ((ssh === undefined) === (virtual === undefined))
      wrong.push([`hosts.${name}`, "a host has either ssh or virtual"]);
  }
  const guests = Object.keys(hosts).filter((name) => hosts[name]?.virtual);
  if (guests.length > 2) {
    wrong.push([
      "hosts",
      `the virtual link joins two guests; ${guests.length} are virtual: ${guests.join(", ")}`,
    ]);
  }
  for (const { host, iqn } of names) {
    const other = names.find((name) => name.host < host && name.iqn === iqn);
    if (other !== undefined)
      wrong.push([
        `hosts.${host}.iqn`,
        `${iqn} is ${other.host}'s as well: two hosts of one name throw each other out`,
      ]);
  }
  return wrong;
}

function fabricRules(lab: LabConfig): Problem[] {
  const wrong: Problem[] = [];
  for (const [name, link] of Object.entries(lab.fabric)) {
    for (const host of Object.keys(link.addresses)) {
      if (lab.hosts[host] === undefined) wrong.push([`fabric.${name}.addresses.${host}`, noHost(lab, host)]);
      else if (nameOn(link.device, host) === undefined)
        wrong.push([`fabric.${name}.device`, `no interface is named for host ${host}`]);
      else if (link.kind !== "rxe" && nameOn(link.rdma, host) === undefined)
        wrong.push([
          `fabric.${name}.rdma`,
          `missing for host ${host}: the ${link.kind} device, as \`rdma link\` names it`,
        ]);
    }
  }
  return wrong;
}

function targetRules(lab: LabConfig): Problem[] {
  const wrong: Problem[] = [];
  const portals: { at: string; protocol: string; target: string }[] = [];
  for (const [name, target] of Object.entries(lab.targets)) {
    const { luns, initiators } = target;
    for (const lun of luns) {
      if (lab.volumes[lun] === undefined && lab.clones[lun] === undefined)
        wrong.push([`targets.${name}.luns`, `no volume ${lun}${known("volumes", lab.volumes)}`]);
      if (isFileSystem(lab, lun))
        wrong.push([`targets.${name}.luns`, `${lun} is a clone of a file system; a LUN is a volume`]);
    }
    const twice = luns.find((lun, n) => luns.indexOf(lun) !== n);
    if (twice !== undefined) wrong.push([`targets.${name}.luns`, `${twice} is listed twice`]);
    const servers = new Set(luns.map((lun) => lab.pools[lun.split("/")[0] ?? ""]?.host));
    if (servers.size > 1)
      wrong.push([`targets.${name}.luns`, `they are on different hosts: ${[...servers].join(", ")}`]);
    const server = serverOf(lab, target);
    const own = Object.values(lab.fabric).flatMap(({ addresses }) =>
      server !== undefined && addresses[server] ? [addresses[server]] : [],
    );
    for (const [protocol, text] of Object.entries(target.portals)) {
      const address = parsePortal(text)?.address ?? text;
      if (!own.some((cidr) => normalInterfaceAddress(cidr)?.split("/")[0] === address))
        wrong.push([
          `targets.${name}.portals.${protocol}`,
          `${address} is no address of ${server} in fabric (${own.join(", ") || "it has none"})`,
        ]);
      const at = `${server} ${normalPortal(text)}`;
      const other = portals.find((portal) => portal.at === at && portal.protocol !== protocol);
      if (other !== undefined) {
        const whose = other.target === name ? "" : ` of target ${other.target}`;
        wrong.push([
          `targets.${name}.portals.${protocol}`,
          `${normalPortal(text)} is the ${other.protocol === "iscsi" ? "iSCSI" : "iSER"} portal${whose} too: LIO serves one protocol a portal`,
        ]);
      }
      portals.push({ at, protocol, target: name });
    }
    const again = initiators.find((host, n) => initiators.indexOf(host) !== n);
    if (again !== undefined) wrong.push([`targets.${name}.initiators`, `${again} is listed twice`]);
    for (const host of initiators) {
      if (lab.hosts[host] === undefined) wrong.push([`targets.${name}.initiators`, noHost(lab, host)]);
      else if (lab.hosts[host].iqn === undefined)
        wrong.push([`hosts.${host}.iqn`, `missing: target ${name} lists this host as an initiator`]);
    }
    for (const [key, sentence] of chapRules(chapOf(target)))
      wrong.push([`targets.${name}.${mutualKeys[key] ?? key}`, sentence]);
  }
  for (const [name, target] of Object.entries(lab.targets)) {
    if (target.ramdisk === undefined) continue;
    const own = { name: ramdiskName(target), size: target.ramdisk };
    for (const [key, sentence] of ramdiskRules(own))
      wrong.push([`targets.${name}.${key === "size" ? "ramdisk" : "luns"}`, sentence]);
    const lun = Object.values(lab.targets)
      .flatMap(({ luns }) => luns)
      .find((other) => backstoreName(other) === own.name);
    if (lun !== undefined)
      wrong.push([
        `targets.${name}.ramdisk`,
        `LUN ${lun} would be backstore ${own.name}, as the RAM disk; rename the volume`,
      ]);
  }
  for (const [lun, other] of sameBackstore(lab))
    wrong.push([
      "targets",
      `LUNs ${other} and ${lun} would both be backstore ${backstoreName(lun)}, since LIO's names have no slash; rename one`,
    ]);
  for (const [lun, others] of exportedTwice(lab))
    wrong.push([
      `targets.${others[1]}.luns`,
      `${lun} is a LUN of target ${others[0]} too; a volume goes to one target: initiators of two would overwrite each other's data`,
    ]);
  return wrong;
}

/** A clone is what its snapshot is of, as far as the stack file tells. */
function isFileSystem(lab: LabConfig, name: string): boolean {
  const of = lab.clones[name]?.snapshot.split("@")[0];
  return of !== undefined && (of in lab.datasets || of in lab.pools || isFileSystem(lab, of));
}

const mutualKeys: Record<string, string> = {
  "chap.mutualUser": "chap.mutual.user",
  "chap.mutualPassword": "chap.mutual.password",
};

function sameBackstore({ targets }: LabConfig): [lun: string, other: string][] {
  const luns = [...new Set(Object.values(targets).flatMap((target) => target.luns))];
  return luns.flatMap((lun, n): [string, string][] => {
    const other = luns.slice(0, n).find((earlier) => backstoreName(earlier) === backstoreName(lun));
    return other === undefined ? [] : [[lun, other]];
  });
}

function exportedTwice({ targets }: LabConfig): [lun: string, targets: string[]][] {
  const users = new Map<string, string[]>();
  for (const [name, { luns }] of Object.entries(targets))
    for (const lun of new Set(luns)) users.set(lun, [...(users.get(lun) ?? []), name]);
  return [...users].filter(([, names]) => names.length > 1);
}

/** One UUID is one file system's. */
function filesystemRules({ filesystem, targets }: LabConfig): Problem[] {
  const names = Object.keys(targets);
  if (filesystem?.uuid === undefined || names.length < 2) return [];
  return [
    [
      "filesystem.uuid",
      `it names one file system, and there are ${names.length} targets, each with its own: ${names.join(", ")}`,
    ],
  ];
}
