import { z } from "zod";
import { ParseError } from "../../errors.ts";
import { readFiles } from "../../files.ts";
import { hostAddress, type Questions } from "../../host.ts";
import type { ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { iqnProblem } from "../lio/iqn.ts";
import { type KernelSession, observeSessions, sessionText } from "./sessions.ts";

/**
 * The host's name as an iSCSI initiator: /etc/iscsi/initiatorname.iscsi. See iscsid(8).
 * What stood there before is kept beside, and put back when this is deleted. A file that has the declared name
 * already is taken as it is, and stays.
 */
export const initiatorInputs = z.strictObject({
  host: hostAddress.meta({ change: "replace" }),
  name: z
    .string()
    .describe("The initiator's name: iqn.2026-09.com.example.lab:initiator. Two hosts never share one."),
});
export type InitiatorInputs = z.infer<typeof initiatorInputs>;

type InitiatorObserved = {
  /** The declared name; none where any is looked for. */
  wanted: string;
  /** The file as it is; `name` is undefined where there is no file. */
  text: string | undefined;
  name: string | undefined;
  /** What stood there before. */
  before: string | undefined;
  sessions: KernelSession[];
};

const file = "/etc/iscsi/initiatorname.iscsi";
const kept = `${file}.before-storage-lab`;
const mark = "# Written by storage-lab";

/** Reads initiatorname.iscsi. */
export function parseInitiatorName(text: string): string | undefined {
  let name: string | undefined;
  for (const line of text.split("\n")) {
    if (/^\s*(#|$)/.test(line) || /^GenerateName=/.test(line)) continue;
    const value = /^InitiatorName=(\S+)\s*$/.exec(line)?.[1];
    // InitiatorAlias is known, and nothing of ours.
    if (value !== undefined) name = value;
    else if (!line.startsWith("InitiatorAlias="))
      throw new ParseError(`${file}: not of the known form: ${line}`);
  }
  return name;
}

async function observe(host: Questions, { name: wanted }: InitiatorInputs): Promise<InitiatorObserved> {
  const [files, sessions] = await Promise.all([readFiles(host, [file, kept]), observeSessions(host)]);
  const text = files.get(file);
  return {
    wanted,
    text,
    name: text === undefined ? undefined : parseInitiatorName(text),
    before: files.get(kept),
    sessions,
  };
}

const isOurs = ({ text }: InitiatorObserved): boolean => text?.startsWith(mark) ?? false;

/** Ours, or somebody's that has the declared name anyway. */
const exists = (observed: InitiatorObserved): boolean =>
  isOurs(observed) || (observed.name !== undefined && ["", observed.name].includes(observed.wanted));

/**
 * iscsid reads the name when it starts, and starts when it is needed: it is stopped before the file changes, so that
 * none is left that knows the former name, wherever this is interrupted. 5 = there is no such service.
 */
const stop: Step = {
  say: "stop iscsid, which comes back with the next login",
  argv: ["systemctl", "stop", "iscsid.service"],
  accept: [0, 5],
};

function plan(
  desired: InitiatorInputs | undefined,
  observed: InitiatorObserved,
  _inputs: InitiatorInputs,
  owner: string,
): Step[] {
  const { text, name, before } = observed;
  if (desired === undefined) {
    if (!isOurs(observed)) return [];
    const remove: Step =
      before === undefined
        ? { say: "remove the initiator's name", argv: ["rm", "-f", file] }
        : { say: "put the initiator's former name back", argv: ["mv", "-f", kept, file] };
    return [stop, remove];
  }
  if (name === desired.name) return [];
  const keep =
    text === undefined || isOurs(observed)
      ? []
      : [{ say: "keep the former name", file: kept, text, mode: "600" }];
  const written = `${mark} for ${owner}.\nInitiatorName=${desired.name}\n`;
  return [...keep, stop, { say: `name this initiator ${desired.name}`, file, text: written, mode: "600" }];
}

function refusals(
  desired: InitiatorInputs | undefined,
  observed: InitiatorObserved,
  { host }: InitiatorInputs,
): string[] {
  const { sessions, name } = observed;
  const changes = desired === undefined ? isOurs(observed) : desired.name !== name;
  if (!changes || sessions.length === 0) return [];
  return [
    `the initiator's name on ${host.name} can't change from ${name ?? "none"} to ${desired?.name ?? "the former one"} ` +
      `while it is logged in to ${sessions.map(sessionText).join(", ")}: log out first`,
  ];
}

export const initiator: ResourceType<InitiatorInputs, InitiatorObserved> = {
  type: "iscsi:Initiator",
  inputs: initiatorInputs,
  identity: () => "initiator",
  observe,
  exists,
  // The name that is there by another hand is as declared: nothing is taken from anybody.
  owner: ({ text }, asking) => /^# Written by storage-lab for (.+)\.$/m.exec(text ?? "")?.[1] ?? asking,
  current: ({ name }, inputs) => ({ ...inputs, name: name ?? inputs.name }),
  plan,
  refusals,
  rules({ name }) {
    const problem = iqnProblem(name);
    return problem === undefined ? [] : [["name", problem]];
  },
  named: (host, identity) => (identity === "initiator" ? { host, name: "" } : undefined),
  found: ({ name }, inputs) => ({ ...inputs, name: name ?? "" }),
  gone: (observed) => {
    if (!isOurs(observed)) return observed;
    const { before: text } = observed;
    return {
      ...observed,
      text,
      name: text === undefined ? undefined : parseInitiatorName(text),
      before: undefined,
    };
  },
  outputs: ({ name }) => ({ name }),
};
