import { isDeepStrictEqual } from "node:util";
import { ParseError } from "../../errors.ts";
import { readBelow } from "../../files.ts";
import type { Questions } from "../../host.ts";
import type { Step } from "../../step.ts";
import { normalPortal, parsePortal, portalText } from "../net/address.ts";
import { type Chap, chapOf } from "./chap.ts";
import type { SessionInputs } from "./session.ts";

/** open-iscsi's node records: what iscsiadm(8) keeps of a target's portal, one file each. They hold secrets. */

export type NodeRecord = {
  readonly portal: string;
  readonly iface: string;
  readonly values: Map<string, string>;
};

/** The iface record that a transport logs in by. */
export const ifaces = { tcp: "default", iser: "iser" } as const;

/** Where versions keep them. */
const nodeFolders = ["/var/lib/iscsi/nodes", "/etc/iscsi/nodes"];

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
    if (name === undefined || value === undefined) {
      throw new ParseError(`a node record of open-iscsi: not of the form name = value: ${shown(line)}`);
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

/** A line may be a secret's, or a secret: a value's name is quoted where there is one, and nothing else. */
function shown(line: string): string {
  const name = /^(?:node|iface|discovery)\.[\w.[\]]+(?=[ =])/.exec(line)?.[0];
  return name === undefined ? `a line of ${line.length} characters` : `${name}…`;
}

export const auth = "node.session.auth";

/** What the record has to hold, secrets apart. */
function wantedValues({ startup, settings = {}, chap }: SessionInputs): Map<string, string> {
  return new Map([
    ...(startup === undefined ? [] : [["node.startup", startup] as const]),
    ...Object.entries(settings),
    [`${auth}.authmethod`, chap === undefined ? "None" : "CHAP"],
  ]);
}

/** The record's name for each of CHAP's values. */
const chapNames: [key: keyof Chap, name: string][] = [
  ["user", `${auth}.username`],
  ["password", `${auth}.password`],
  ["mutualUser", `${auth}.username_in`],
  ["mutualPassword", `${auth}.password_in`],
];

export const recordedChap = ({ values }: NodeRecord): Chap =>
  Object.fromEntries(chapNames.map(([key, name]) => [key, values.get(name) ?? ""])) as Chap;

/**
 * How the record differs: not at all, in its startup alone, or in what a session takes over at its login.
 * iscsid uses the credentials that a record holds whatever its authmethod says, so they alone are compared.
 */
export function difference(
  desired: SessionInputs,
  record: NodeRecord | undefined,
): "none" | "startup" | "login" {
  if (record === undefined) return "login";
  if (!isDeepStrictEqual(recordedChap(record), chapOf(desired.chap))) return "login";
  const differs = [...wantedValues(desired)].filter(
    ([name, value]) => name !== `${auth}.authmethod` && record.values.get(name) !== value,
  );
  if (differs.some(([name]) => name !== "node.startup")) return "login";
  return differs.length > 0 ? "startup" : "none";
}

/** A record made anew from iscsid.conf holds nothing of before, credentials above all. */
export function recordSteps(
  desired: SessionInputs,
  record: NodeRecord | undefined,
  on: string[],
  place: string,
): Step[] {
  const values = [...wantedValues(desired)].flatMap(([name, value]) => ["-n", name, "-v", value]);
  const chap = chapOf(desired.chap);
  const secrets = chapNames
    .filter(([key]) => chap[key] !== "")
    .map(([key, name]) => `${name} = ${chap[key]}`);
  const { address, port } = parsePortal(desired.portal) ?? { address: desired.portal, port: 0 };
  const steps: Step[] = [];
  if (record !== undefined) steps.push({ say: `forget ${place}`, argv: [...on, "-o", "delete"] });
  steps.push(
    { say: `note ${place}`, argv: [...on, "-o", "new"] },
    { say: `set how to log in to ${place}`, argv: [...on, "-o", "update", ...values] },
  );
  if (secrets.length > 0) {
    // iscsiadm takes values from its arguments only, which every user of the host can see.
    const files = nodeFolders.map((folder) => `${folder}/${desired.target}/${address},${port}`);
    const argv = ["sh", "-c", append, "sh", ifaces[desired.transport], ...files];
    steps.push({ say: `set the CHAP secrets of ${place}`, argv, stdin: secrets.join("\n"), secret: true });
  }
  return steps;
}

/** Appends stdin to the one record there is, in either of its layouts: PORTAL, or PORTAL,TPGT/IFACE. */
const append = `iface=$1; shift; for f do
  for record in "$f" "$f",*/"$iface"; do [ -f "$record" ] && { cat >>"$record"; exit; }; done
done; echo "there is nothing to append to" >&2; exit 1`;
