import { commandLine, type Frames, heredoc, quote } from "./shell.ts";

/**
 * A step of a plan: data, one of four forms, each with a sentence for the log.
 * Steps of one plan run in order on one host and stop at the first that fails.
 */
export type Step = (Run | WriteFile | SetAttribute | WaitUntil) & {
  /** What this does to those who use the storage; left out: nothing, it is done online. */
  readonly effect?: Effect;
};

/** From bad to worse. What cannot be undone (a vdev that can't be removed again) loses nothing, but stays. */
export const effects = ["sessions drop", "outage", "cannot be undone", "data loss"] as const;
export type Effect = (typeof effects)[number];

/** Run a program. An argv, never a shell string. */
export type Run = {
  /** What this does, as a sentence for the log: "create pool tank". */
  readonly say: string;
  readonly argv: readonly string[];
  /** Text for the program's stdin; absent = /dev/null. */
  readonly stdin?: string;
  /** `stdin` holds a secret: it is shown nowhere. */
  readonly secret?: true;
  /** Exit statuses that mean success; default only 0. */
  readonly accept?: readonly number[];
  /** How to take this back when a later step of the same plan fails. */
  readonly undo?: readonly string[];
  /**
   * Run after all plans of the round trip, once for all of them that have this very step: what saves the state of
   * a whole host. Steps after it in its plan do not wait for it.
   */
  readonly onceAtEnd?: true;
};

/** Write a regular file whole (beside it, then renamed), its folder made first. */
export type WriteFile = {
  readonly say: string;
  readonly file: string;
  readonly text: string;
  /** `text` is base64 of the file's bytes. */
  readonly base64?: true;
  /** Octal, default 644. */
  readonly mode?: string;
  readonly secret?: true;
};

/** Write one value into an attribute of configfs or sysfs, by the shell itself. */
export type SetAttribute = {
  readonly say: string;
  readonly attribute: string;
  readonly value: string;
  readonly secret?: true;
};

/** Wait until a command succeeds (`test` costs no process), with a deadline. */
export type WaitUntil = {
  readonly say: string;
  readonly until: readonly string[];
  readonly deadlineSeconds: number;
  /** Says in a line how far it is, asked after each look that was in vain: for conditions that take a while to look at. */
  readonly progress?: readonly string[];
};

/** Shell text for one step; its status is the step's. `tell` makes shell text that hands over a command's last line. */
export function stepScript(step: Step, tell = (_command: string): string => ":"): string {
  if ("argv" in step) {
    // 9 is the lock's descriptor: a daemon that a step starts must not hold it.
    const input = `9>&- ${step.stdin === undefined ? "</dev/null" : heredoc(step.stdin)}`;
    if (step.accept === undefined) return `${commandLine(step.argv)} ${input}`;
    return `${commandLine(step.argv)} ${input}\nr=$?; case $r in ${step.accept.join("|")}) r=0;; esac; (exit $r)`;
  }
  if ("file" in step) {
    const [file, part] = [quote(step.file), quote(`${step.file}.storage-lab-part`)];
    const folder = quote(step.file.slice(0, step.file.lastIndexOf("/")) || "/");
    const mode = step.mode ?? "644";
    const content = `printf '%s\\n' "$text"${step.base64 ? " | base64 -d" : ""}`;
    return [
      `text=$(cat ${heredoc(step.text.replace(/\n$/, ""))}\n)`,
      // What is there already is not written again: nobody would come back for a half-written copy.
      `if ${content} | cmp -s - ${file} 2>/dev/null; then chmod ${mode} ${file}`,
      `else mkdir -p ${folder} && (umask 077; ${content} >${part}) && chmod ${mode} ${part} &&`,
      // On the disk before it has its name: a power failure leaves the old file or the new one, never an empty one.
      // And the name before the next step: a file of ours that is not there yet is written again, over this one.
      `  sync ${part} && mv -f ${part} ${file} && sync ${folder}`,
      "fi",
    ].join("\n");
  }
  if ("attribute" in step) {
    // No line feed: LIO takes it for a part of a CHAP secret.
    return `printf %s ${quote(step.value)} >${quote(step.attribute)}`;
  }
  return [
    `r=0; end=$(($(date +%s) + ${step.deadlineSeconds}))`,
    `until ${commandLine(step.until)} </dev/null >/dev/null 2>&1; do`,
    `  if [ "$(date +%s)" -ge "$end" ]; then`,
    `    printf '%s\\n' ${quote(`not so after ${step.deadlineSeconds} s: ${commandLine(step.until)}`)} >&2; r=124; break`,
    "  fi",
    ...(step.progress === undefined ? [] : [tell(`${commandLine(step.progress)} </dev/null 2>&1`)]),
    "  sleep 0.1",
    "done; (exit $r)",
  ].join("\n");
}

/** A step as one line an operator could type, without secrets. */
export function stepLine(step: Step): string {
  if ("argv" in step) {
    if (step.stdin === undefined) return commandLine(step.argv);
    const lines = step.stdin.split("\n").length;
    const input = step.secret ? "[secret]" : lines > 2 ? `[${lines} lines]` : quote(step.stdin);
    return `${commandLine(step.argv)} <<< ${input}`;
  }
  if ("file" in step) return `write ${step.file}${step.secret ? " [secret]" : ""}`;
  if ("attribute" in step) {
    return `echo ${step.secret ? "[secret]" : quote(step.value)} > ${quote(step.attribute)}`;
  }
  return `wait up to ${step.deadlineSeconds} s for: ${commandLine(step.until)}`;
}

/**
 * Shell text for several plans, one after the other. A plan stops at its first step that fails and then takes
 * back, last first, what its steps say how to take back; the next plan runs all the same.
 * The frame of step n of plan p is labelled `p.n`.
 */
export function plansScript(frames: Frames, plans: readonly (readonly Step[])[]): string {
  const atEnd = new Map<string, { label: string; wanted: string }[]>();
  const bodies = plans.map((steps, plan) => {
    const lines = ["failed=0"];
    for (const [index, step] of steps.entries()) {
      const label = `${plan}.${index}`;
      const tell = (command: string): string => frames.around(`${label}.progress`, command);
      if ("onceAtEnd" in step) {
        const wanted = `end_${plan}_${index}`;
        const script = stepScript(step);
        atEnd.set(script, [...(atEnd.get(script) ?? []), { label, wanted }]);
        lines.push(`${wanted}=; [ $failed -ne 0 ] || ${wanted}=1`);
        continue;
      }
      lines.push("if [ $failed -eq 0 ]; then", frames.around(label, stepScript(step, tell)));
      lines.push(`if [ $s -eq 0 ]; then done=${index}; else failed=1; fi; fi`);
    }
    const undo = [...steps.entries()].flatMap(([index, step]) =>
      "undo" in step && step.undo ? [`[ $done -lt ${index} ] || ${commandLine(step.undo)} </dev/null`] : [],
    );
    if (undo.length > 0) {
      lines.unshift("done=-1");
      lines.push("if [ $failed -eq 1 ]; then", ...undo.reverse(), "fi >/dev/null 2>&1");
    }
    return lines.join("\n");
  });
  return [...bodies, ...[...atEnd].map(([script, plans]) => endScript(frames, script, plans))].join("\n");
}

/** One run for all plans that want it; each gets a frame with what it said. */
function endScript(frames: Frames, script: string, plans: { label: string; wanted: string }[]): string {
  const any = plans.map(({ wanted }) => `$${wanted}`).join("");
  return [
    `if [ -n "${any}" ]; then`,
    `said=$( { ${script}`,
    "} 2>&1 ); r=$?",
    ...plans.flatMap(({ label, wanted }) => [
      `if [ -n "$${wanted}" ]; then`,
      frames.around(label, `printf '%s\\n' "$said" >&2; (exit $r)`),
      "fi",
    ]),
    "fi",
  ].join("\n");
}
