import type { Step } from "../../provider/step.ts";

/**
 * What a fault is, and how it is put into a plan: as steps of its own, so that it strikes on the host, under the
 * lock, at exactly that place of the plan. Pure. Product code knows nothing of it.
 */

export const kinds = ["cut", "provider", "engine", "reboot", "full"] as const;
export type Kind = (typeof kinds)[number];

export const kindsSay: Record<Kind, string> = {
  cut: "the SSH connection is cut: the host's sshd session ends",
  provider: "the provider is killed (SIGKILL)",
  engine: "the engine is killed (SIGKILL)",
  reboot: "the host loses power and boots again",
  full: "the host's disk is full from here on, until the run has ended",
};

export type Fault = {
  readonly kind: Kind;
  /** Strike before the step of this number, counted over all plans of the run. */
  readonly at: number;
  /** Strike after the last step of the plan of this number, from 1, however many steps it has this time. */
  readonly endOf?: number;
  /** Strike this many seconds into the step instead. */
  readonly during?: number;
  /** The machine's folder, where the host is this machine. */
  readonly folder?: string;
};

/** The file that takes the rest of the disk. */
export const ballast = "/var/tmp/storage-lab-faults-ballast";

/** What the blow needs to know, found while the plan's shell still lives: that shell's group, its sshd process. */
const aim = `\
folder=$1 group=$(awk '{ print $5 }' /proc/$$/stat) sshd= p=$$
while [ "$p" -gt 1 ]; do
  read -r name </proc/$p/comm
  case $name in sshd-session) sshd=$p; break ;; sshd) sshd=\${listener:-$p}; listener=$p ;; esac
  p=$(awk '/^PPid:/ { print $2 }' /proc/$p/status)
done
export folder group sshd`;

/** Takes all blocks that are left, those kept for root too: in pieces, since one that does not fit takes nothing. */
const fill = (file: string): string => `\
size=1073741824 n=0
while [ $size -ge 4096 ]; do
  if fallocate -l $size "${file}.$n" 2>/dev/null; then n=$((n + 1)); else rm -f "${file}.$n"; size=$((size / 2)); fi
done`;

/** On this machine a shell in a group of its own runs the plan; a reboot ends the guest as well. */
const endShell = "kill -9 -$group";

function blow({ kind, folder }: Fault): string {
  switch (kind) {
    case "cut":
      return folder === undefined ? "kill -9 $sshd" : endShell;
    case "reboot":
      return folder === undefined
        ? "echo b >/proc/sysrq-trigger"
        : `kill -9 $(cat "$folder/qemu.pid" 2>/dev/null) 2>/dev/null; ${endShell}`;
    case "full":
      // Never the disk of this machine itself: only where the machines' folder is a small one of its own.
      return folder === undefined
        ? fill(ballast)
        : `mountpoint -q "$folder/.." || exit 1\n${fill("$folder/../ballast")}`;
    default:
      // The provider strikes when it hears that this step runs; until then nothing moves.
      return "sleep 2";
  }
}

/** The steps that strike. `sign` ends where `strike` begins, so that the provider hears of it in time. */
function striking(fault: Fault, atEnd: boolean): { sign: Step; strike: Step } {
  const place = atEnd ? ({ onceAtEnd: true } as const) : {};
  const { kind, during, folder = "" } = fault;
  const later = `${aim}\nsetsid sh -c "sleep $2; $3" >/dev/null 2>&1 &`;
  const argv =
    during === undefined
      ? ["sh", "-c", `${aim}\n${blow(fault)}\ntrue`, "sh", folder]
      : dealtHere(kind)
        ? ["true"]
        : ["sh", "-c", later, "sh", folder, String(during), blow(fault)];
  return {
    sign: { say: `fault: ${kind} comes`, argv: ["true"], ...place },
    strike: { say: `fault: ${kind}`, argv, ...place },
  };
}

/** Is the blow dealt from this side, by the provider itself? */
export const dealtHere = (kind: Kind): boolean => kind === "provider" || kind === "engine";

export type Injected = { steps: Step[]; strike: Step };

/**
 * The plan with the fault in it; undefined where its place is not in this plan, the run's `number`th, whose first
 * step has the number `from`. A step that runs at the end of the round trip is met there.
 */
export function inject(
  steps: readonly Step[],
  fault: Fault,
  plan: { from: number; number: number } = { from: 0, number: 1 },
): Injected | undefined {
  const at = fault.endOf === undefined ? fault.at - plan.from : steps.length;
  if (fault.endOf === undefined ? at < 0 || at >= steps.length : fault.endOf !== plan.number)
    return undefined;
  const runsAtEnd = (step: Step | undefined): boolean => step !== undefined && "onceAtEnd" in step;
  const atEnd = at === steps.length ? steps.some(runsAtEnd) : runsAtEnd(steps[at]);
  const { sign, strike } = striking(fault, atEnd);
  return { steps: [...steps.slice(0, at), sign, strike, ...steps.slice(at)], strike };
}
