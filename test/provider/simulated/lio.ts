import { parsePortal } from "../../../provider/resources/net/address.ts";
import { commandLine } from "../../../provider/shell.ts";
import { listing } from "../resources/lio/lab.ts";
import { Refused, type Result, recursiveGrep, SimulatedHost } from "./tree.ts";

/**
 * LIO in configfs as Linux 6.12 has it, and rtslib 2.1's save file. What a folder holds by itself comes and goes with
 * it; a folder that holds made ones, or that a link leads to, stays.
 */

const configfs = "/sys/kernel/config/target";
const core = `${configfs}/core`;
const iscsi = `${configfs}/iscsi`;
const saveFile = "/etc/rtslib-fb-target/saveconfig.json";
const unit = "rtslib-fb-targetctl.service";
const enabledBy = `/etc/systemd/system/multi-user.target.wants/${unit}`;

const blockAttributes = {
  ...{ block_size: "512", emulate_model_alias: "0", emulate_tas: "1", emulate_tpu: "0" },
  ...{ emulate_write_cache: "0", hw_block_size: "512", queue_depth: "128" },
};
const whileUnused = new Set(["block_size", "emulate_model_alias", "emulate_tas", "queue_depth"]);
const tpgAttributes = {
  ...{ authentication: "1", default_cmdsn_depth: "64", demo_mode_write_protect: "1" },
  ...{ generate_node_acls: "0", login_timeout: "15" },
};
const authFiles = { userid: "", password: "", userid_mutual: "", password_mutual: "" };
const pageBytes = 4096;
const serialText = "T10 VPD Unit Serial Number: ";

type Json = Record<string, unknown>;

export class SimulatedLio extends SimulatedHost {
  /** The block devices of this host. */
  readonly devices = new Set<string>();
  readonly modules = new Set<string>();
  /** What mkdir and ln made, in order. */
  readonly #made = new Set<string>();
  /** The device that each backstore was put on. */
  readonly #on = new Map<string, string>();
  /** The pages that each RAM disk was given. */
  readonly #pages = new Map<string, number>();

  constructor(devices: readonly string[]) {
    super();
    for (const device of devices) this.devices.add(device);
    this.write(`/usr/lib/systemd/system/${unit}`, "[Unit]\n");
    this.link(enabledBy, `/usr/lib/systemd/system/${unit}`);
    this.write("/proc/net/tcp", "  sl  local_address rem_address   st\n");
    this.write("/proc/net/tcp6", "  sl  local_address rem_address   st\n");
  }

  answer(argv: readonly string[]): Result {
    const line = commandLine(argv);
    if (line === listing) return this.#list();
    if (line === "rdma -j resource show cm_id") return { status: 0, stdout: "[]\n" };
    if (line === "getconf PAGESIZE") return { status: 0, stdout: `${pageBytes}\n` };
    if (line === "getconf _PHYS_PAGES") return { status: 0, stdout: "262144\n" };
    if (argv[0] === "grep" && argv[1] === "-aHZ") return this.grepFiles(argv.slice(3));
    const grep = recursiveGrep(argv);
    if (grep !== undefined) return this.grepBelow(grep.names, grep.leftOut, grep.folders);
    throw new Error(`the simulated host was not told of: ${line}`);
  }

  #list(): Result {
    let stdout = "";
    let stderr = "";
    for (const root of [core, iscsi]) {
      if (!this.tree.has(root)) stderr += `find: '${root}': No such file or directory\n`;
      for (const path of this.below(root)) {
        const parts = path.slice(root.length + 1).split("/");
        const pruned = parts.some((part) => part === "alua" || part.endsWith("statistics"));
        const node = this.tree.get(path);
        if (pruned || parts.length > (root === core ? 2 : 6) || node === undefined) continue;
        if (node.kind === "folder") stdout += `d\t${path}\t\n`;
        if (node.kind === "link") stdout += `l\t${path}\t${node.to}\n`;
      }
    }
    return { status: stderr === "" ? 0 : 1, stdout, stderr };
  }

  override holds(argv: readonly string[]): boolean {
    if (argv[0] === "test" && argv[1] === "-b") return this.devices.has(argv[2] ?? "");
    return super.holds(argv);
  }

  run(argv: readonly string[]): void {
    const [program, option = "", ...rest] = argv;
    const line = commandLine(argv);
    if (program === "mkdir" && option === "-p") for (const path of rest) this.#makeAll(path);
    else if (program === "mkdir") for (const path of argv.slice(1)) this.#make(path);
    else if (program === "rmdir") for (const path of argv.slice(1)) this.#unmake(path);
    else if (program === "ln" && option === "-s") this.#connect(rest[0] ?? "", rest[1] ?? "");
    else if (program === "ln" && option === "-sfn") this.link(rest[1] ?? "", rest[0] ?? "");
    else if (program === "rm" && option.startsWith(configfs))
      for (const path of argv.slice(1)) this.#cut(path);
    else if (program === "cp" && option === "-p") this.write(rest[1] ?? "", this.#textOf(rest[0] ?? ""));
    else if (program === "modprobe") this.#load(option === "-a" ? rest : argv.slice(1));
    else if (line === "targetctl save" || rest[0] === 'targetctl save && sync "$0" "$1"') this.#save();
    else if (line !== "systemctl start sys-kernel-config.mount" && argv.at(-1) !== `${configfs}/dbroot`)
      throw new Error(`the simulated host was not told of: ${line}`);
  }

  #textOf(path: string): string {
    const text = this.text(path);
    if (text === undefined) throw new Refused(`cannot stat '${path}': No such file or directory`);
    return text;
  }

  #load(modules: readonly string[]): void {
    for (const module of modules) this.modules.add(module);
    if (this.modules.has("target_core_mod")) this.tree.set(core, { kind: "folder" });
  }

  #makeAll(path: string): void {
    const parts = path.slice(configfs.length + 1).split("/");
    for (const [index] of parts.entries()) {
      const part = [configfs, ...parts.slice(0, index + 1)].join("/");
      if (!this.tree.has(part)) this.#make(part);
    }
  }

  /** mkdir: what comes with the folder depends on where it is. */
  #make(path: string): void {
    const parent = path.slice(0, path.lastIndexOf("/"));
    if (this.tree.has(path)) throw new Refused(`cannot create directory '${path}': File exists`);
    if (parent !== configfs && !this.tree.has(parent))
      throw new Refused(`'${path}': No such file or directory`);
    const where = path.slice(configfs.length + 1);
    const tpg = "iscsi/[^/]+/tpgt_\\d+";
    const is = (form: string): boolean => new RegExp(`^${form}$`).test(where);
    const holds = (folders: string[], files: Record<string, string> = {}): void => {
      this.tree.set(path, { kind: "folder" });
      this.#made.add(path);
      for (const folder of folders) this.tree.set(`${path}/${folder}`, { kind: "folder" });
      for (const [file, text] of Object.entries(files)) this.write(`${path}/${file}`, `${text}\n`);
    };
    const below = (folder: string, files: Record<string, string>): Record<string, string> =>
      Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));
    if (is("core/(iblock|fileio|rd_mcp)_\\d+")) holds([]);
    else if (is("core/rd_mcp_\\d+/[^/]+")) {
      holds(["attrib", "wwn", "pr", "alua", "action", "statistics"], {
        ...{ control: "", info: "", enable: "0", "wwn/vpd_unit_serial": serialText },
        ...below("attrib", blockAttributes),
      });
    } else if (is("core/(iblock|fileio)_\\d+/[^/]+")) {
      holds(["attrib", "wwn", "pr", "alua", "action", "statistics"], {
        ...{ control: "", udev_path: "", enable: "0", "wwn/vpd_unit_serial": serialText },
        ...below("attrib", blockAttributes),
      });
      this.write(`${path}/udev_path`, "");
    } else if (is("iscsi")) {
      // The kernel loads the module by itself.
      this.modules.add("iscsi_target_mod");
      holds(["discovery_auth"], below("discovery_auth", authFiles));
    } else if (is("iscsi/[^/]+")) holds(["param", "fabric_statistics"]);
    else if (is(tpg)) {
      holds(["acls", "attrib", "auth", "lun", "np", "param"], {
        ...{ enable: "0", ...below("attrib", tpgAttributes), ...below("auth", authFiles) },
      });
    } else if (is(`${tpg}/np/[^/]+`)) {
      this.#listen(path);
      holds([], { iser: "0" });
    } else if (is(`${tpg}/lun/lun_\\d+`)) holds(["statistics"]);
    else if (is(`${tpg}/acls/[^/]+`)) {
      const info = `No active iSCSI Session for Initiator Endpoint: ${path.split("/").at(-1)}`;
      const auth = below("auth", authFiles);
      holds(["attrib", "auth", "param", "fabric_statistics"], {
        info,
        "attrib/authentication": "-1",
        ...auth,
      });
    } else if (is(`${tpg}/acls/[^/]+/lun_\\d+`)) holds(["statistics"], { write_protect: "0" });
    else throw new Refused(`cannot create directory '${path}': Operation not permitted`);
  }

  /** A port is one listener's for an address or for all; targets share a listener. */
  #listen(path: string): void {
    const own = parsePortal(path.split("/").at(-1) ?? "");
    if (own === undefined) throw new Refused(`cannot create directory '${path}': Invalid argument`);
    const isAll = (address: string): boolean => address === "0.0.0.0" || address === "::";
    for (const made of this.#made) {
      const there = /\/np\/([^/]+)$/.test(made) ? parsePortal(made.split("/").at(-1) ?? "") : undefined;
      if (there?.port !== own.port || there.address === own.address) continue;
      const families = [there, own].map(({ address }) => address.includes(":"));
      const both = families[0] === families[1] || there.address === "::" || own.address === "::";
      if (both && (isAll(there.address) || isAll(own.address)))
        throw new Refused(`cannot create directory '${path}': Invalid argument`);
    }
  }

  #unmake(path: string): void {
    if (!this.#made.has(path)) throw new Refused(`failed to remove '${path}': No such file or directory`);
    const inside = [...this.#made].find((made) => made.startsWith(`${path}/`));
    if (inside !== undefined) throw new Refused(`failed to remove '${path}': Directory not empty: ${inside}`);
    if (this.#linksTo(path).length > 0)
      throw new Refused(`failed to remove '${path}': Device or resource busy`);
    this.remove(path, ...this.below(path));
    this.#made.delete(path);
    this.#on.delete(path);
    this.#pages.delete(path);
  }

  #linksTo(path: string): string[] {
    return [...this.#made].filter((made) => {
      const node = this.tree.get(made);
      return node?.kind === "link" && node.to.replace(/^(\.\.\/)+target/, configfs) === path;
    });
  }

  /** ln -s: a backstore behind a LUN, or a LUN shown to an initiator. */
  #connect(to: string, path: string): void {
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!this.tree.has(folder)) throw new Refused(`'${path}': No such file or directory`);
    if (!this.tree.has(to)) throw new Refused(`'${path}' to '${to}': No such file or directory`);
    if (this.below(folder).some((there) => this.tree.get(there)?.kind === "link"))
      throw new Refused(`'${path}': File exists`);
    const isLun = /\/lun\/lun_\d+$/.test(folder);
    if (isLun && this.text(`${to}/enable`) !== "1\n") throw new Refused(`'${path}': No such device`);
    if (!isLun && !this.below(to).some((there) => this.tree.get(there)?.kind === "link"))
      throw new Refused(`'${path}': Invalid argument`);
    this.link(path, `${isLun ? "../".repeat(6) : "../".repeat(7)}target${to.slice(configfs.length)}`);
    this.#made.add(path);
  }

  #cut(path: string): void {
    if (this.tree.get(path)?.kind !== "link") throw new Refused(`cannot remove '${path}'`);
    this.remove(path);
    this.#made.delete(path);
  }

  set(attribute: string, value: string): void {
    if (this.tree.get(attribute)?.kind !== "file")
      throw new Refused(`cannot create ${attribute}: Permission denied`);
    const refuse = (when: boolean): void => {
      if (when) throw new Refused(`${attribute}: I/O error`);
    };
    const [folder = "", name = ""] = [
      attribute.slice(0, attribute.lastIndexOf("/")),
      attribute.split("/").at(-1),
    ];
    const block = /^.*\/core\/[^/]+\/[^/]+/.exec(attribute)?.[0];
    if (block === undefined) {
      refuse(name === "iser" && value === "1" && !this.modules.has("ib_isert"));
      this.write(attribute, `${value}\n`);
      return;
    }
    const isUsed = this.#linksTo(block).length > 0;
    const pages = this.#pages.get(block);
    if (name === "control" && block.startsWith(`${core}/rd_mcp_`)) {
      const given = Number(/^rd_pages=([1-9]\d*)$/.exec(value)?.[1]);
      refuse(Number.isNaN(given) || this.text(`${block}/enable`) === "1\n");
      this.#pages.set(block, given);
    } else if (name === "enable" && block.startsWith(`${core}/rd_mcp_`)) {
      refuse(value !== "1" || pages === undefined);
      this.write(attribute, "1\n");
      this.write(
        `${block}/info`,
        `Status: ACTIVATED  Max Queue Depth: 0  SectorSize: 512\n        TCM RamDisk ID: 0  RamDisk Makeup: rd_mcp\n        PAGES/PAGE_SIZE: ${pages}*${pageBytes}  SG_table_count: 1  nullio: 0 dummy: 0\n`,
      );
    } else if (name === "control") {
      const device = /^udev_path=(\S+)$/.exec(value)?.[1] ?? "";
      refuse(device === "" || this.text(`${block}/enable`) === "1\n");
      this.#on.set(block, device);
    } else if (name === "vpd_unit_serial") {
      refuse(isUsed);
      this.write(attribute, `${serialText}${value}\n`);
    } else if (name === "enable") {
      const device = this.#on.get(block);
      const taken = [...this.#on].some(
        ([other, its]) => other !== block && its === device && this.text(`${other}/enable`) === "1\n",
      );
      refuse(value !== "1" || device === undefined || !this.devices.has(device) || taken);
      this.write(attribute, "1\n");
    } else {
      if (folder.endsWith("/attrib")) {
        refuse(isUsed && whileUnused.has(name));
        refuse(name.startsWith("hw_") || name === "emulate_write_cache");
      }
      this.write(attribute, `${value}\n`);
    }
  }

  #attributes(folder: string): Record<string, number> {
    const files = this.below(`${folder}/attrib`);
    return Object.fromEntries(
      files
        .filter((path) => !path.includes("/hw_"))
        .map((path) => [path.split("/").at(-1), Number(this.text(path))]),
    );
  }

  #children(folder: string): string[] {
    return [...this.#made].filter((path) => path.slice(0, path.lastIndexOf("/")) === folder);
  }

  /** What a LUN or mapped LUN leads to: [link's name, the target's path]. */
  #behind(folder: string): [alias: string, path: string] {
    const link = this.#children(folder).find((path) => this.tree.get(path)?.kind === "link");
    const node = this.tree.get(link ?? "");
    // rtslib can't save a LUN that leads nowhere.
    if (link === undefined || node?.kind !== "link") throw new Refused(`Broken LUN in configfs: ${folder}`);
    return [link.split("/").at(-1) ?? "", node.to.replace(/^(\.\.\/)+target/, configfs)];
  }

  #save(): void {
    const last = (path: string): string => path.split("/").at(-1) ?? "";
    const number = (path: string): number => Number(last(path).replace(/^lun_/, ""));
    const line = (path: string): string => (this.text(path) ?? "").trimEnd();
    const objects = this.#children(core).flatMap((hba) => this.#children(hba));
    const targets = this.#children(iscsi).map((target): Json => {
      const tpgs = this.#children(target).map((tpg): Json => {
        const acls = this.#children(`${tpg}/acls`).map((acl): Json => {
          const chap = {
            userid: "userid",
            password: "password",
            mutual_userid: "userid_mutual",
            mutual_password: "password_mutual",
          };
          const secrets = Object.entries(chap).flatMap(([key, file]) => {
            const text = line(`${acl}/auth/${file}`);
            return text === "" || text === "NULL" ? [] : [[`chap_${key}`, text]];
          });
          const mapped_luns = this.#children(acl).map((lun) => {
            const [alias, path] = this.#behind(lun);
            return { alias, index: number(lun), tpg_lun: number(path) };
          });
          return { node_wwn: last(acl), mapped_luns, ...Object.fromEntries(secrets) };
        });
        const luns = this.#children(`${tpg}/lun`).map((lun) => {
          const [alias, path] = this.#behind(lun);
          const plugin = this.#pages.has(path) ? "ramdisk" : "block";
          return { alias, index: number(lun), storage_object: `/backstores/${plugin}/${last(path)}` };
        });
        const portals = this.#children(`${tpg}/np`).map((path) => {
          const { address = "", port } = parsePortal(last(path)) ?? {};
          const ip_address = address.includes(":") ? `[${address}]` : address;
          return { ip_address, port, iser: line(`${path}/iser`) === "1", offload: false };
        });
        const tag = Number(last(tpg).replace("tpgt_", ""));
        const attributes = this.#attributes(tpg);
        return { tag, enable: line(`${tpg}/enable`) === "1", attributes, luns, node_acls: acls, portals };
      });
      return { fabric: "iscsi", tpgs, wwn: last(target) };
    });
    const storage_objects = objects.map((path): Json => {
      // rtslib can't read one that is not enabled.
      if (line(`${path}/enable`) !== "1") throw new Refused(`Cannot read attribute of ${path}`);
      const wwn = line(`${path}/wwn/vpd_unit_serial`).replace(serialText, "");
      const pages = this.#pages.get(path);
      return {
        name: last(path),
        ...(pages === undefined
          ? { plugin: "block", dev: line(`${path}/udev_path`) }
          : { plugin: "ramdisk", size: pages * pageBytes, nullio: false }),
        wwn,
        attributes: this.#attributes(path),
      };
    });
    this.write(saveFile, JSON.stringify({ fabric_modules: [], storage_objects, targets }));
  }

  /** Everything in configfs is lost; where the unit is enabled, what was saved comes back, numbered anew. */
  reboot(): void {
    this.remove(core, iscsi, ...this.below(configfs));
    this.#made.clear();
    this.#on.clear();
    this.#pages.clear();
    this.modules.clear();
    for (const file of this.below("/etc/modules-load.d")) {
      this.#load((this.text(file) ?? "").split("\n").filter((line) => /^[a-z]/.test(line)));
    }
    const text = this.text(saveFile);
    if (!this.tree.has(enabledBy) || text === undefined) return;
    this.#load(["target_core_mod", "iscsi_target_mod"]);
    const saved = JSON.parse(text) as {
      storage_objects: {
        name: string;
        dev?: string;
        size?: number;
        wwn: string;
        attributes: Record<string, number>;
      }[];
      targets: { wwn: string; tpgs: SavedTpg[] }[];
    };
    const blocks = new Map<string, string>();
    for (const [index, { name, dev, size = 0, wwn, attributes }] of saved.storage_objects.entries()) {
      const parent = `${core}/${dev === undefined ? "rd_mcp" : "iblock"}_${index}`;
      const path = `${parent}/${name}`;
      this.run(["mkdir", parent, path]);
      blocks.set(name, path);
      if (dev === undefined) this.set(`${path}/control`, `rd_pages=${size / pageBytes}`);
      else {
        this.set(`${path}/control`, `udev_path=${dev}`);
        this.set(`${path}/udev_path`, dev);
      }
      this.set(`${path}/wwn/vpd_unit_serial`, wwn);
      this.set(`${path}/enable`, "1");
      for (const [name, value] of Object.entries(attributes))
        this.write(`${path}/attrib/${name}`, `${value}\n`);
    }
    for (const { wwn, tpgs } of saved.targets) {
      for (const tpg of tpgs) this.#restore(`${iscsi}/${wwn}/tpgt_${tpg.tag}`, tpg, blocks);
    }
  }

  #restore(path: string, tpg: SavedTpg, blocks: ReadonlyMap<string, string>): void {
    this.run(["mkdir", "-p", path]);
    for (const [name, value] of Object.entries(tpg.attributes))
      this.set(`${path}/attrib/${name}`, `${value}`);
    for (const { index, alias, storage_object } of tpg.luns) {
      this.run(["mkdir", `${path}/lun/lun_${index}`]);
      const block = blocks.get(storage_object.replace(/^\/backstores\/(block|ramdisk)\//, "")) ?? "";
      this.run(["ln", "-s", block, `${path}/lun/lun_${index}/${alias}`]);
    }
    for (const { ip_address, port, iser } of tpg.portals) {
      this.run(["mkdir", `${path}/np/${ip_address}:${port}`]);
      if (iser) this.set(`${path}/np/${ip_address}:${port}/iser`, "1");
    }
    for (const acl of tpg.node_acls) {
      const folder = `${path}/acls/${acl.node_wwn}`;
      this.run(["mkdir", folder]);
      for (const { index, alias, tpg_lun } of acl.mapped_luns) {
        this.run(["mkdir", `${folder}/lun_${index}`]);
        this.run(["ln", "-s", `${path}/lun/lun_${tpg_lun}`, `${folder}/lun_${index}/${alias}`]);
      }
      const secrets = { userid: acl.chap_userid, password: acl.chap_password };
      const mutual = { userid_mutual: acl.chap_mutual_userid, password_mutual: acl.chap_mutual_password };
      for (const [file, text] of Object.entries({ ...secrets, ...mutual })) {
        if (text !== undefined) this.set(`${folder}/auth/${file}`, text);
      }
    }
    if (tpg.enable) this.set(`${path}/enable`, "1");
  }
}

type SavedTpg = {
  tag: number;
  enable: boolean;
  attributes: Record<string, number>;
  luns: { index: number; alias: string; storage_object: string }[];
  portals: { ip_address: string; port: number; iser: boolean }[];
  node_acls: {
    node_wwn: string;
    mapped_luns: { index: number; alias: string; tpg_lun: number }[];
    chap_userid?: string;
    chap_password?: string;
    chap_mutual_userid?: string;
    chap_mutual_password?: string;
  }[];
};
