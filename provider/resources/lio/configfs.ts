import { ParseError } from "../../errors.ts";
import { grepped, readBelow, withoutAbsent } from "../../files.ts";
import type { Answer, Questions } from "../../host.ts";
import { expect } from "../../resource.ts";
import type { Chap } from "../iscsi/chap.ts";
import { normalPortal } from "../net/address.ts";

/**
 * LIO's configuration as the kernel holds it, below /sys/kernel/config/target (configfs): all backstores and all
 * iSCSI targets of a host. Two processes read it, however many objects there are.
 */

export const configfs = "/sys/kernel/config/target";
export const core = `${configfs}/core`;
export const iscsi = `${configfs}/iscsi`;
export const tpgPath = (iqn: string): string => `${iscsi}/${iqn}/tpgt_1`;

export type Acl = {
  /** The LUN of the TPG behind each mapped LUN, and the link that says so. */
  luns: Map<number, { lun: number; link: string }>;
  chap: Chap;
  /** The address that a session of this initiator is logged in from. */
  session: string | undefined;
};

export type Tpg = {
  enabled: boolean;
  /** By normal form; `folder` is configfs' own spelling. */
  portals: Map<string, { folder: string; iser: boolean }>;
  /** `link` is missing in a LUN that was left half made. */
  luns: Map<number, { backstore: string | undefined; link: string | undefined }>;
  acls: Map<string, Acl>;
  authentication: string | undefined;
  generateNodeAcls: string | undefined;
};

export type Block = {
  /** iblock_N: N differs after a reboot, rtslib counts anew. */
  index: number;
  path: string;
  device: string;
  serial: string;
  enabled: boolean;
};

export type Ramdisk = {
  /** rd_mcp_N, of the same numbers as iblock_N. */
  index: number;
  path: string;
  /** 0 where it has no pages yet. */
  bytes: number;
  serial: string;
  enabled: boolean;
};

export type Lio = {
  /** Is the kernel's target core loaded? */
  loaded: boolean;
  /** Block backstores by name. */
  blocks: Map<string, Block>;
  /** RAM disks by name. */
  ramdisks: Map<string, Ramdisk>;
  /** The numbers taken by backstores of every kind: rtslib counts over all of them. */
  indexes: Set<number>;
  /** TPG 1 of each target. */
  targets: Map<string, Tpg>;
  /** The portals of further TPGs, by target. */
  otherPortals: { target: string; portal: string }[];
};

const listing = [
  ...["find", core, iscsi, "-mindepth", "1", "-maxdepth", "6"],
  ...["(", "-name", "*statistics", "-o", "-name", "alua", "-o", "-path", "*/core/*/*/*", ")", "-prune", "-o"],
  ...["(", "-type", "d", "-o", "-type", "l", ")", "-printf", "%y\\t%p\\t%l\\n"],
];
const values = [
  ...["udev_path", "enable", "vpd_unit_serial", "info", "iser", "authentication", "generate_node_acls"],
  ...["userid", "password", "userid_mutual", "password_mutual"],
];
const leftOut = ["*statistics", "alua", "pr", "action", "pscsi_*", "discovery_auth", "param"];

export async function observeLio(host: Questions): Promise<Lio> {
  const [tree, texts] = await Promise.all([
    host.ask(listing),
    readBelow(host, [core, iscsi], values, leftOut),
  ]);
  const lio = parseLio(treeLines(host, tree), texts);
  // A core that holds nothing yet lists nothing, and yet is there.
  return { ...lio, loaded: !tree.stderr.includes(`'${core}'`) };
}

/** Attributes of a folder by name, read where they are wanted. */
export async function observeAttributes(
  host: Questions,
  folder: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const argv = ["grep", "-raHZ", ...names.map((name) => `--include=${name}`), "", folder];
  return grepped(host, await host.ask(argv), `the attributes below ${folder}`);
}

function treeLines(host: Questions, answer: Answer): string[] {
  const complaints = withoutAbsent(answer.stderr, /^find: '?[^ ]*: No such file or directory$/);
  if (complaints.length > 0 || answer.status > 1) {
    expect(
      host,
      { ...answer, status: answer.status || 1, stderr: complaints.join("; ") },
      "LIO's configuration",
    );
  }
  return answer.stdout.split("\n").filter((line) => line !== "");
}

/** Reads the listing (type TAB path TAB link) and the values by path. */
export function parseLio(tree: readonly string[], texts: ReadonlyMap<string, string>): Lio {
  const lio: Lio = {
    loaded: true,
    blocks: new Map(),
    ramdisks: new Map(),
    indexes: new Set(),
    targets: new Map(),
    otherPortals: [],
  };
  for (const line of tree) {
    const [kind, path = "", link = ""] = line.split("\t");
    if ((kind !== "d" && kind !== "l") || !path.startsWith(`${configfs}/`)) {
      throw new ParseError(`find in configfs: not of the form type, path, link: ${line}`);
    }
    const parts = path.slice(configfs.length + 1).split("/");
    if (parts[0] === "core") addBackstore(lio, parts, path, texts);
    else addToTarget(lio, parts, path, link, texts);
  }
  return lio;
}

function addBackstore(lio: Lio, parts: string[], path: string, texts: ReadonlyMap<string, string>): void {
  const [, folder = "", name] = parts;
  const [, plugin = "", number = ""] = /^(.+)_(\d+)$/.exec(folder) ?? [];
  if (plugin === "") return;
  lio.indexes.add(Number(number));
  if (name === undefined) return;
  const common = {
    index: Number(number),
    path,
    serial: (texts.get(`${path}/wwn/vpd_unit_serial`) ?? "").replace(/^T10 VPD Unit Serial Number: */, ""),
    enabled: texts.get(`${path}/enable`) === "1",
  };
  if (plugin === "iblock") {
    lio.blocks.set(name, { ...common, device: texts.get(`${path}/udev_path`) ?? "" });
  } else if (plugin === "rd_mcp") {
    lio.ramdisks.set(name, { ...common, bytes: parseRamdisk(texts.get(`${path}/info`) ?? "") });
  }
}

/** Reads a RAM disk's `info`: its pages and how large one is. */
export function parseRamdisk(info: string): number {
  if (info === "") return 0;
  const [, pages, bytes] = /PAGES\/PAGE_SIZE: (\d+)\*(\d+) /.exec(info) ?? [];
  if (pages === undefined)
    throw new ParseError(`a RAM disk's info in configfs has no PAGES/PAGE_SIZE: ${info}`);
  return Number(pages) * Number(bytes);
}

/** The link that a LUN is, without the number that a restart changes: "lun0", and what kind of backstore it is. */
export function backstoreOf(link: string | undefined): { name: string; ramdisk: boolean } | undefined {
  const [, plugin, name] = /^(iblock|rd_mcp)_\d+\/(.+)$/.exec(link ?? "") ?? [];
  return name === undefined ? undefined : { name, ramdisk: plugin === "rd_mcp" };
}

function addToTarget(
  lio: Lio,
  parts: string[],
  path: string,
  link: string,
  texts: ReadonlyMap<string, string>,
): void {
  const [, target = "", group, folder, name = "", inner, last] = parts;
  if (target === "discovery_auth" || group === undefined) return;
  if (group !== "tpgt_1") {
    if (folder === "np" && name !== "") lio.otherPortals.push({ target, portal: normalPortal(name) });
    return;
  }
  const tpg = entry(lio.targets, target, () => newTpg(iscsi, target, texts));
  if (name === "") return;
  if (folder === "np") {
    if (inner === undefined) {
      tpg.portals.set(normalPortal(name), { folder: name, iser: texts.get(`${path}/iser`) === "1" });
    }
  } else if (folder === "lun") {
    const lun = entry(tpg.luns, lunNumber(name, path), () => ({ backstore: undefined, link: undefined }));
    // Only the link to the backstore is a link here; its name is whoever's made it.
    if (link !== "") Object.assign(lun, { backstore: link.replace(/^.*\/core\//, ""), link: path });
  } else if (folder === "acls") {
    const acl = entry(tpg.acls, name, () => newAcl(path, texts));
    if (inner?.startsWith("lun_") && link !== "" && last !== undefined) {
      const lun = lunNumber(link.replace(/^.*\//, ""), path);
      acl.luns.set(lunNumber(inner, path), { lun, link: path });
    } else if (inner?.startsWith("lun_") && !acl.luns.has(lunNumber(inner, path))) {
      acl.luns.set(lunNumber(inner, path), { lun: -1, link: "" });
    }
  }
}

function newTpg(root: string, target: string, texts: ReadonlyMap<string, string>): Tpg {
  const at = (name: string): string | undefined => texts.get(`${root}/${target}/tpgt_1/${name}`);
  return {
    enabled: at("enable") === "1",
    portals: new Map(),
    luns: new Map(),
    acls: new Map(),
    authentication: at("attrib/authentication"),
    generateNodeAcls: at("attrib/generate_node_acls"),
  };
}

function newAcl(path: string, texts: ReadonlyMap<string, string>): Acl {
  // An unset name or secret reads as nothing, one that was taken back as NULL.
  const auth = (name: string): string => (texts.get(`${path}/auth/${name}`) ?? "").replace(/^NULL$/, "");
  return {
    luns: new Map(),
    chap: {
      user: auth("userid"),
      password: auth("password"),
      mutualUser: auth("userid_mutual"),
      mutualPassword: auth("password_mutual"),
    },
    session: parseSession(texts.get(`${path}/info`) ?? ""),
  };
}

/** Reads an ACL's `info`: from where its session is logged in. It shows one session, however many there are. */
export function parseSession(info: string): string | undefined {
  if (info === "" || info.startsWith("No active iSCSI Session")) return undefined;
  const state = /^Session State: (\S+)/m.exec(info)?.[1];
  if (state === undefined) throw new ParseError(`an ACL's info in configfs has no session state: ${info}`);
  return state === "TARG_SESS_STATE_LOGGED_IN" || state === "TARG_SESS_LOGGED_IN"
    ? (/^ +Address (\S+) /m.exec(info)?.[1] ?? "an unknown address")
    : undefined;
}

function lunNumber(name: string, path: string): number {
  const number = /^lun_(\d+)$/.exec(name)?.[1];
  if (number === undefined) throw new ParseError(`configfs: no LUN's name: ${name} in ${path}`);
  return Number(number);
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const there = map.get(key);
  if (there !== undefined) return there;
  const made = make();
  map.set(key, made);
  return made;
}
