import type { HostAddress } from "../../provider/host.ts";

/** What is made, changed and deleted for a resource type while faults strike, on which host, standing on what. */

/** A resource as the program declares it. */
export type Declared = {
  readonly name: string;
  readonly type: string;
  readonly inputs: { readonly host: HostAddress };
};

export const hosts = ["storage", "initiator"] as const;
export type HostName = (typeof hosts)[number];

/** Where a lane's hosts are. */
export type Lab = {
  readonly address: Record<HostName, HostAddress>;
  /** The lane's folder, with everything that belongs to it. */
  readonly folder: string;
};

type Inputs = Record<string, unknown>;

/** A shell line on the host, and what it has to say. */
export type Proof = readonly [line: string, says: RegExp];

export type Scenario = {
  readonly type: string;
  /** The host that loses power; `local`: this machine. */
  readonly host: HostName | "local";
  /** Guests that have to run. */
  readonly guests: readonly HostName[];
  /** What it stands on, in the order in which it is made; a stack of its own. */
  readonly base: (lab: Lab) => Declared[];
  readonly create: (lab: Lab) => Inputs;
  /** What changes in place. */
  readonly update?: Inputs;
  /** What changes by a new object. */
  readonly replace?: Inputs;
  /** By the system's own programs, after each operation. */
  readonly proofs: Partial<Record<"create" | "update" | "replace" | "delete", readonly Proof[]>>;
  /** A line that makes the host ready for a delete that has more to do (a mount by hand). */
  readonly beforeDelete?: string;
  /** What a delete leaves on purpose, taken away before the next create so that this begins from nothing. */
  readonly afterDelete?: string;
};
