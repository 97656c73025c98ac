import { portalsOverlap } from "../net/address.ts";
import { missingPackage } from "./saved.ts";
import { sessionsAt, sessionsOf, sessionsText } from "./sessions.ts";
import type { TargetInputs, TargetObserved } from "./target.ts";
import { isMapped, wanted } from "./tpg.ts";

/** What forbids a target's plan: sessions that it would cut off, and portals that the kernel would not open. */
export function targetRefusals(
  desired: TargetInputs | undefined,
  observed: TargetObserved,
  { iqn, host, dropSessions }: TargetInputs,
): string[] {
  const { tpg, connections, restore } = observed;
  const sentences: string[] = [];
  if (restore.unit === undefined) sentences.push(missingPackage(host.name));
  const may = (desired?.dropSessions ?? dropSessions) === true;
  const sessions = may ? [] : sessionsOf(tpg);
  const logout = `allow it with dropSessions: true, or log out there first: iscsiadm -m node -T ${iqn} --logout`;
  if (desired === undefined) {
    if (sessions.length > 0)
      sentences.push(`target ${iqn} on ${host.name} is in use by ${sessionsText(sessions)}: ${logout}`);
    return sentences;
  }
  const want = wanted(desired);
  for (const [portal, { iser }] of tpg?.portals ?? []) {
    const stays = want.portals.get(portal) === iser || (want.portals.has(portal) && !iser);
    const users = may ? [] : sessionsAt(tpg, connections, portal);
    if (stays || users.length === 0) continue;
    sentences.push(
      `portal ${portal} of ${iqn} on ${host.name} is in use by ${sessionsText(users)}: ${logout} -p ${portal}`,
    );
  }
  for (const { initiator, from } of sessions) {
    const mapped = tpg?.acls.get(initiator)?.luns.keys() ?? [];
    const gone = [...mapped].filter((lun) => tpg !== undefined && !isMapped(want, tpg, initiator, lun));
    if (gone.length === 0 && want.acls.has(initiator)) continue;
    const what = want.acls.has(initiator) ? `LUN ${gone.join(", ")}` : "its ACL";
    sentences.push(
      `${what} would be taken from ${initiator} (from ${from}), logged in to ${iqn} on ${host.name}: ${logout}`,
    );
  }
  for (const attribute of Object.keys(desired.attributes ?? {})) {
    if (tpg === undefined || observed.attributes.has(attribute)) continue;
    sentences.push(`target ${iqn} on ${host.name} has no attribute ${attribute}: leave it out`);
  }
  return [...sentences, ...overlaps(want.portals.keys(), observed, { iqn, host })];
}

/** New portals that overlap with another target's. Two targets may share one portal. */
function overlaps(
  wantedPortals: Iterable<string>,
  { lio, tpg }: TargetObserved,
  { iqn, host }: Pick<TargetInputs, "iqn" | "host">,
): string[] {
  const own = [...wantedPortals].filter((portal) => !tpg?.portals.has(portal));
  const others = [...lio.targets].flatMap(([target, { portals }]) =>
    target === iqn ? [] : [...portals.keys()].map((portal) => ({ target, portal })),
  );
  return [...others, ...lio.otherPortals].flatMap(({ target, portal }) =>
    own
      .filter((mine) => portalsOverlap(portal, mine))
      .map(
        (mine) =>
          `portal ${mine} on ${host.name} overlaps with ${portal} of target ${target}: one of them has all addresses, ` +
          "and the kernel gives the port to one only; name the address in both",
      ),
  );
}
