import { ParseError } from "../../errors.ts";
import { readBelow } from "../../files.ts";
import type { Questions } from "../../host.ts";
import { normalPortal, portalText } from "../net/address.ts";

/** open-iscsi's node records: what iscsiadm(8) keeps of a target's portal, one file each. They hold secrets. */

export type NodeRecord = {
  readonly portal: string;
  readonly iface: string;
  readonly values: Map<string, string>;
};

/** Where versions keep them. */
export const nodeFolders = ["/var/lib/iscsi/nodes", "/etc/iscsi/nodes"];

export async function observeRecords(host: Questions, target: string): Promise<NodeRecord[]> {
  const folders = nodeFolders.map((folder) => `${folder}/${target}`);
  return [...(await readBelow(host, folders, ["*"])).values()].map(parseRecord);
}

/** Reads one record: `name = value` a line, between comments. */
export function parseRecord(text: string): NodeRecord {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    if (line.startsWith("#") || line.trim() === "") continue;
    const [, name, value] = /^(\S+) = (.*)$/.exec(line) ?? [];
    // The line may be a secret's: only its name is quoted.
    if (name === undefined || value === undefined) {
      throw new ParseError(
        `a node record of open-iscsi: not of the form name = value: ${line.split(/[ =]/)[0]}…`,
      );
    }
    values.set(name, value === "<empty>" ? "" : value);
  }
  const address = values.get("node.conn[0].address") ?? "";
  const port = Number(values.get("node.conn[0].port") ?? "0");
  return {
    portal: normalPortal(portalText({ address, port })),
    iface: values.get("iface.iscsi_ifacename") ?? "default",
    values,
  };
}
