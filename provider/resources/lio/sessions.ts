import type { Tpg } from "./configfs.ts";
import { type Connections, peersOf } from "./connections.ts";

/** Who is logged in to a target, and through which portal. */

export type LoggedIn = { initiator: string; from: string };

export const sessionsOf = (tpg: Tpg | undefined): LoggedIn[] =>
  [...(tpg?.acls ?? [])].flatMap(([initiator, { session }]) =>
    session === undefined ? [] : [{ initiator, from: session }],
  );

export function sessionsAt(tpg: Tpg | undefined, connections: Connections, portal: string): LoggedIn[] {
  const peers = peersOf(connections, portal);
  return sessionsOf(tpg).filter(({ from }) => peers.includes(from));
}

export const sessionsText = (sessions: readonly LoggedIn[]): string =>
  sessions.map(({ initiator, from }) => `${initiator} (from ${from})`).join(", ");
