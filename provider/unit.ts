import type { Step } from "./step.ts";

/**
 * Persistence by small systemd units of this project's own, which work under any network manager or none.
 * See systemd.unit(5), systemd.service(5).
 */

const folder = "/etc/systemd/system";

/** The services that need links, interfaces and their addresses; each distribution has some of these names. */
export const storageServices =
  "rtslib-fb-targetctl.service target.service iscsid.service open-iscsi.service iscsi.service";

export type UnitState = { readonly text: string | undefined; readonly enabled: boolean };

/** The files that tell a unit's state: the unit, and the link by which it is enabled. */
export const unitFiles = (unit: string): [file: string, link: string] => [
  `${folder}/${unit}`,
  `${folder}/multi-user.target.wants/${unit}`,
];

export function unitState(files: ReadonlyMap<string, string>, unit: string): UnitState {
  const [file, link] = unitFiles(unit);
  return { text: files.get(file), enabled: files.has(link) };
}

/**
 * Steps that write and enable the unit where it differs. Enabling is a link; systemd reads it at the next boot, so
 * nothing here makes it read all its units again now, which takes seconds on a slow host.
 */
export function unitSteps(unit: string, text: string, state: UnitState): Step[] {
  const [file, link] = unitFiles(unit);
  const same = state.text === text.trimEnd();
  return [
    ...(same ? [] : [{ say: `write ${unit}`, file, text }]),
    ...(same && state.enabled ? [] : [{ say: `let ${unit} run at boot`, argv: ["ln", "-sfn", file, link] }]),
  ];
}

export function removeUnitSteps(unit: string, state: UnitState): Step[] {
  if (state.text === undefined && !state.enabled) return [];
  return [
    { say: `remove ${unit}`, argv: ["rm", "-f", ...unitFiles(unit)] },
    // Else a power failure now would have it run once more, for what is gone by then.
    { say: `have ${unit} gone on the disk, too`, argv: ["sync", folder] },
  ];
}

/**
 * A oneshot service that runs at boot once its network device is there. It waits by itself: where it is bound to the
 * device's unit, a boot so slow that systemd's wait for the device ends before udev has told of it fails the service.
 */
export function networkUnit(unit: {
  readonly description: string;
  readonly device: string;
  readonly after?: string;
  readonly commands: readonly string[];
}): string {
  const device = `sys-subsystem-net-devices-${escapeUnit(unit.device)}.device`;
  return `# Written by storage-lab.
[Unit]
Description=${unit.description}
Wants=${device}
After=${device} network-pre.target systemd-modules-load.service${unit.after ? ` ${unit.after}` : ""}
Before=network.target ${storageServices}
Wants=network.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStartPre=/bin/sh -c 'n=0; until [ -e /sys/class/net/${unit.device} ]; do n=$$((n+1)); [ $$n -le 180 ] || exit 1; sleep 1; done'
TimeoutStartSec=240
${unit.commands.map((command) => `ExecStart=${command}`).join("\n")}

[Install]
WantedBy=multi-user.target
`;
}

/** systemd-escape(1). */
export function escapeUnit(text: string): string {
  return [...Buffer.from(text)]
    .map((byte, index) => {
      const char = String.fromCharCode(byte);
      if (char === "/") return "-";
      const plain = /[A-Za-z0-9_:]/.test(char) || (char === "." && index > 0);
      return plain ? char : `\\x${byte.toString(16).padStart(2, "0")}`;
    })
    .join("");
}
