import type { Told } from "../../../recorded.ts";
import { recorded } from "../../../recorded.ts";

/** What a storage host of the virtual lab with one target answered, by command line. */

export const iqn = "iqn.2026-09.com.example.lab:tank";
export const initiatorName = "iqn.2026-09.com.example.lab:initiator";
export const host = { name: "storage", ssh: "storage" };

const core = "/sys/kernel/config/target/core";
const iscsi = "/sys/kernel/config/target/iscsi";
export const listing =
  `find ${core} ${iscsi} -mindepth 1 -maxdepth 6 ` +
  "'(' -name '*statistics' -o -name alua -o -path '*/core/*/*/*' ')' -prune -o '(' -type d -o -type l ')' -printf '%y\\t%p\\t%l\\n'";
export const values =
  "grep -raHZ --include=udev_path --include=enable --include=vpd_unit_serial --include=info --include=iser " +
  "--include=authentication --include=generate_node_acls --include=userid --include=password --include=userid_mutual " +
  "--include=password_mutual '--exclude-dir=*statistics' --exclude-dir=alua --exclude-dir=pr --exclude-dir=action " +
  `'--exclude-dir=pscsi_*' --exclude-dir=discovery_auth --exclude-dir=param '' ${core} ${iscsi}`;
const ofUnit = (unit: string, folder: string): string =>
  `/usr/lib/systemd/system/${unit} /etc/systemd/system/multi-user.target.wants/${unit} ` +
  `/etc/systemd/system/${unit}.d/storage-lab.conf ${folder}/saveconfig.json`;
export const restore =
  "grep -aHZ '' /etc/modules-load.d/storage-lab-lio.conf /etc/modules-load.d/storage-lab-lio-iser.conf " +
  `${ofUnit("rtslib-fb-targetctl.service", "/etc/rtslib-fb-target")} ${ofUnit("target.service", "/etc/target")}`;
export const tcp = "grep -aHZ '' /proc/net/tcp /proc/net/tcp6";
export const rdma = "rdma -j resource show cm_id";

const absent = (paths: string[]): string =>
  paths.map((path) => `grep: ${path}: No such file or directory\n`).join("");

/** A TPG with a session, as recorded. */
export const oneTarget: Record<string, Told> = {
  [listing]: recorded("find--configfs-one-target--linux-6.12"),
  [values]: recorded("grep--configfs-one-target--linux-6.12"),
  [restore]: {
    status: 2,
    stdout: recorded("grep--lio-restore--rtslib-2.1.76"),
    stderr: absent(["/usr/lib/systemd/system/target.service", "/etc/target/saveconfig.json"]),
  },
  [tcp]: recorded("cat--proc-net-tcp--linux-6.12").replaceAll(/^(?=.)/gm, "/proc/net/tcp\0"),
  [rdma]: recorded("rdma--cm-ids-target--iproute2-6.15"),
};

/** A host on which LIO was never loaded. */
export const noLio: Record<string, Told> = {
  [listing]: {
    status: 1,
    stderr: `find: '${core}': No such file or directory\nfind: '${iscsi}': No such file or directory\n`,
  },
  [values]: { status: 2, stderr: absent([core, iscsi]) },
  [restore]: {
    status: 2,
    stdout:
      "/usr/lib/systemd/system/rtslib-fb-targetctl.service\0[Unit]\n/etc/systemd/system/multi-user.target.wants/rtslib-fb-targetctl.service\0[Unit]\n",
    stderr: absent(["/etc/rtslib-fb-target/saveconfig.json"]),
  },
  [tcp]: "/proc/net/tcp\0  sl  local_address rem_address   st\n",
  [rdma]: "[]\n",
};
