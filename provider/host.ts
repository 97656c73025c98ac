import { mkdirSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { CommandError, TransportError } from "./errors.ts";
import { commandLine, type Frame, Frames, heredoc, quote, whole } from "./shell.ts";
import { plansScript, type Step, stepLine } from "./step.ts";
import { clockEnd, clockStart, roundTrip } from "./trace.ts";

/**
 * The one boundary between this project and a host: OpenSSH, or a shell on this machine.
 * Nothing else starts a program for a host. Keys, ports, jump hosts, agents and known hosts are OpenSSH's own
 * (ssh_config(5)); one multiplexed connection a host; the host's key is always checked.
 */

/** Relative paths in an address are the project's: its state stays true when the folder moves. */
export const projectFolder = resolve(import.meta.dirname, "..");

/** Where a host is, as it stands in a resource's inputs. */
export const hostAddress = z
  .strictObject({
    name: z.string().describe("The host's name in the stack file; messages and ids use it."),
    ssh: z.string().describe("What `ssh` accepts (user@host, an alias), or `local` for this machine."),
    config: z
      .string()
      .optional()
      .describe("An ssh_config file to use in place of the user's own (relative: the project's)."),
    sudo: z.boolean().optional().describe("Log in as a normal user and run everything by `sudo -n`."),
    machine: z.string().optional().describe("Folder of the virtual machine that this host is, if it is one."),
  })
  .describe("A host: an SSH destination.");
export type HostAddress = z.infer<typeof hostAddress>;

/** What a program answered. A status other than 0 is an answer; an unreachable host is a TransportError. */
export type Answer = { argv: readonly string[]; status: number; stdout: string; stderr: string };

/** What resource types see of a host when they observe: questions, no changes. */
export interface Questions {
  readonly name: string;
  /**
   * Run a program that only reads. Questions asked of one host at the same time travel in one round trip,
   * so ask everything that does not depend on another answer at once (Promise.all).
   */
  ask(argv: readonly string[]): Promise<Answer>;
}

/** What the lifecycle needs of a host. */
export interface Connection extends Questions {
  apply(steps: readonly Step[], options: ApplyOptions): Promise<void>;
  /** End every round trip that is under way; the host stops after the step that it is at. */
  interrupt(): void;
}

export type ApplyOptions = {
  /** Who holds the host's lock while this runs: the stack's name, shown to whoever waits. */
  readonly holder: string;
  /** Called when a step is about to run. */
  readonly onStep?: (step: Step) => void;
  /** Don't take the host's lock and don't wait for other plans: for steps that touch nothing shared. */
  readonly sideBySide?: boolean;
};

/** How long one script may take before the host counts as hung. Pools of slow disks take minutes to destroy. */
const scriptDeadline = 30 * 60_000;
const lockDeadlineSeconds = 600;
/** What Node's timers count to, 24.8 days; a benchmark of a million files may reckon with more. */
const longestTimeout = 2 ** 31 - 1;
/** OpenSSH's MaxSessions is 10 for a connection; stay below it, since the benchmark shares the connection. */
const sessionsAtOnce = 6;
/** How long questions and plans wait for company before they travel. */
const gatherMilliseconds = 15;

export const connectTimeoutSeconds = 15;

type Question = { argv: readonly string[]; resolve: (a: Answer) => void; reject: (e: unknown) => void };
type Plan = {
  steps: readonly Step[];
  options: ApplyOptions;
  resolve: () => void;
  reject: (e: unknown) => void;
};

export class Host implements Connection {
  readonly name: string;
  readonly address: HostAddress;
  readonly #interrupted = new AbortController();
  #questions: Question[] = [];
  #plans: Plan[] = [];
  #asking = 0;
  #askTimer: NodeJS.Timeout | undefined;
  #applying = false;
  #applyTimer: NodeJS.Timeout | undefined;

  constructor(address: HostAddress) {
    this.address = address;
    this.name = address.name;
  }

  ask(argv: readonly string[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#questions.push({ argv, resolve, reject });
      this.#askTimer ??= setTimeout(() => void this.#sendQuestions(), gatherMilliseconds);
    });
  }

  /** Run the steps of one plan in order. Plans that come at the same time share a round trip and the lock. */
  apply(steps: readonly Step[], options: ApplyOptions): Promise<void> {
    if (steps.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const plan = { steps, options, resolve, reject };
      if (options.sideBySide) {
        void this.#run([plan], false);
        return;
      }
      this.#plans.push(plan);
      this.#applyTimer ??= setTimeout(() => void this.#sendPlans(), gatherMilliseconds);
    });
  }

  /**
   * Run one long program and hand over its stdout line by line while it runs (a benchmark, a collector).
   * Aborting ends the ssh client; the program must notice its closed output or be ended by its own means.
   */
  async stream(
    argv: readonly string[],
    options: {
      onLine?: (line: string) => void;
      stdin?: string;
      signal?: AbortSignal;
      deadlineSeconds: number;
    },
  ): Promise<Answer> {
    const input = options.stdin === undefined ? "</dev/null" : heredoc(options.stdin);
    const child = this.#shell(
      options.deadlineSeconds * 1000,
      options.signal,
      whole(`${preamble}\n${commandLine(argv)} ${input}`),
    );
    if (options.onLine) {
      const onLine = options.onLine;
      for await (const line of child) onLine(String(line));
    }
    const result = await child;
    if (result.exitCode === undefined || (result.exitCode === 255 && this.address.ssh !== "local")) {
      throw this.#unreachable(result.stderr.trim(), result.shortMessage);
    }
    return { argv, status: result.exitCode, stdout: result.stdout, stderr: result.stderr };
  }

  interrupt(): void {
    this.#interrupted.abort();
  }

  async #sendQuestions(): Promise<void> {
    this.#askTimer = undefined;
    if (this.#asking >= sessionsAtOnce || this.#questions.length === 0) return;
    const batch = this.#questions.splice(0);
    this.#asking += 1;
    const frames = new Frames();
    // What several ask is asked once: objects of one kind read the same tables.
    const lines = [...new Set(batch.map((question) => commandLine(question.argv)))];
    const body = [
      preamble,
      frames.begin(),
      clockStart,
      ...lines.map((line, n) => frames.around(`${n}`, `${line} </dev/null`)),
      frames.around("clock", clockEnd),
    ];
    const traced = roundTrip({ host: this.name, kind: "ask", commands: lines.length });
    const result = await this.#shell(scriptDeadline, undefined, whole(body.join("\n")));
    const answers = frames.parse(result.stdout, result.stderr);
    traced(answers.get("clock")?.stdout ?? "");
    for (const question of batch) {
      const answer = answers.get(`${lines.indexOf(commandLine(question.argv))}`);
      if (answer === undefined)
        question.reject(this.#unreachable(frames.outside(result.stderr), result.shortMessage));
      else question.resolve({ argv: question.argv, ...answer });
    }
    this.#asking -= 1;
    void this.#sendQuestions();
  }

  async #sendPlans(): Promise<void> {
    this.#applyTimer = undefined;
    if (this.#applying) return;
    this.#applying = true;
    while (this.#plans.length > 0) await this.#run(this.#plans.splice(0), true);
    this.#applying = false;
  }

  /** One round trip for several plans. */
  async #run(plans: readonly Plan[], locked: boolean): Promise<void> {
    const frames = new Frames();
    const lock = locked ? lockScript(frames, plans[0]?.options.holder ?? "storage-lab") : "true";
    const body = [
      preamble,
      frames.begin(),
      clockStart,
      frames.around("lock", lock),
      "[ $s -eq 0 ] || return 0",
      plansScript(
        frames,
        plans.map((plan) => plan.steps),
      ),
      frames.around("clock", clockEnd),
    ];
    const traced = roundTrip({
      host: this.name,
      kind: "apply",
      commands: plans.flatMap((plan) => plan.steps).length,
    });
    const child = this.#shell(scriptDeadline, undefined, whole(body.join("\n")));
    let said = "";
    for await (const line of child) {
      const closed = frames.closed(String(line).trimEnd());
      if (closed?.label === "waits") for (const plan of plans) plan.options.onStep?.(lockWait(said));
      else if (closed?.label.endsWith(".progress")) tellProgress(plans, closed.label, said);
      else if (closed) announce(plans, closed);
      if (String(line).trim() !== "") said = String(line).trim();
    }
    const result = await child;
    const answers = frames.parse(result.stdout, result.stderr);
    traced(answers.get("clock")?.stdout ?? "");
    const gotLock = answers.get("lock");
    const broken = this.#unreachable(frames.outside(result.stderr), result.shortMessage);
    for (const [number, plan] of plans.entries()) {
      if (gotLock === undefined) plan.reject(broken);
      else if (gotLock.status !== 0) plan.reject(this.#locked(gotLock.stderr));
      else {
        const failure = failureOf(this.name, plan.steps, (step) => answers.get(`${number}.${step}`), broken);
        if (failure === undefined) plan.resolve();
        else plan.reject(failure);
      }
    }
  }

  #locked(holder: string): Error {
    return new TransportError(
      this.name,
      `${this.name}: its lock ${lockFile} was not free within ${lockDeadlineSeconds} s (held by ${holder.trim() || "an unknown process"}). ` +
        "Another `up` works on this host; run again when it has ended.",
    );
  }

  #unreachable(said: string, message: string | undefined): TransportError {
    const { name, ssh, config } = this.address;
    if (this.#interrupted.signal.aborted) return new TransportError(name, `${name}: interrupted`);
    const hand = commandLine(["ssh", ...(config === undefined ? [] : ["-F", config]), ssh, "true"]);
    const hint = /host key verification failed/i.test(said)
      ? `Log in once by hand to check and accept its key: ${hand}`
      : `Try by hand: ${hand}`;
    const reason = said.split("\n").at(-1) || message || "the connection ended";
    // sshd does not listen yet, goes down, or lets nobody in before the boot has ended (pam_nologin(8)).
    const starting = /connection (refused|reset|closed)|system is booting up/i.test(said);
    return new TransportError(name, `${name} (${ssh}) did not answer: ${reason}. ${hint}`, { starting });
  }

  #shell(timeout: number, signal: AbortSignal | undefined, script: string) {
    const interrupted = this.#interrupted.signal;
    const shell = this.address.sudo ? ["sudo", "-n", "sh", "-s"] : ["sh", "-s"];
    const [file, ...rest] =
      this.address.ssh === "local"
        ? shell
        : ["ssh", ...this.#sshOptions(), this.address.ssh, commandLine(shell)];
    const cancelSignal = signal === undefined ? interrupted : AbortSignal.any([signal, interrupted]);
    const local = this.address.ssh === "local";
    const child = execa(file ?? "sh", rest, {
      input: script,
      reject: false,
      timeout: Math.min(timeout, longestTimeout),
      stripFinalNewline: false,
      cwd: projectFolder,
      maxBuffer: 256 * 1024 * 1024,
      cancelSignal,
      detached: local,
    });
    if (local) endTogether(child.pid, child, cancelSignal);
    return child;
  }

  #sshOptions(): string[] {
    return [
      ...(this.address.config === undefined ? [] : ["-F", this.address.config]),
      ...[
        "BatchMode=yes",
        `ConnectTimeout=${connectTimeoutSeconds}`,
        "ServerAliveInterval=15",
        "ServerAliveCountMax=4",
      ].flatMap((option) => ["-o", option]),
      ...["-o", "ControlMaster=auto", "-o", "ControlPersist=120", "-o", `ControlPath=${controlFolder()}/%C`],
    ];
  }
}

const preamble = "LC_ALL=C; PATH=/usr/local/sbin:/usr/sbin:/sbin:$PATH; export LC_ALL PATH";
const lockFile = "/run/storage-lab.lock";

/**
 * A shell on this machine and what it runs end together: in a group of their own, which gets the signal when the
 * plan is interrupted or this process exits. Over SSH the closed connection does that.
 */
function endTogether(pid: number | undefined, ended: Promise<unknown>, signal: AbortSignal): void {
  if (pid === undefined) return;
  const end = (): void => {
    try {
      process.kill(-pid, "SIGTERM");
    } catch (error) {
      // It has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  };
  signal.addEventListener("abort", end);
  process.on("exit", end);
  // Then its number may be somebody else's.
  void ended.finally(() => {
    signal.removeEventListener("abort", end);
    process.off("exit", end);
  });
}

/** Takes the host's lock for as long as this shell lives; says who has it when it has to wait, and when it gives up. */
function lockScript(frames: Frames, holder: string): string {
  return [
    `exec 9>>${lockFile} && { flock -n 9 || {`,
    frames.around("waits", `cat ${lockFile}`),
    `flock -w ${lockDeadlineSeconds} 9; } || { cat ${lockFile} >&2; false; }; } &&`,
    `  printf '%s since %s\\n' ${quote(holder)} "$(date)" >${lockFile}`,
  ].join("\n");
}

const lockWait = (holder: string): Step => ({
  say: `wait for the lock of this host, held by ${holder}`,
  until: ["flock", "-n", lockFile, "true"],
  deadlineSeconds: lockDeadlineSeconds,
});

/** Tell the plan whose turn it is, now that this frame is closed, which step runs. */
function announce(plans: readonly Plan[], closed: { label: string; status: number }): void {
  const [plan, step] = closed.label === "lock" ? [-1, 0] : closed.label.split(".").map(Number);
  const current = plans[plan ?? 0];
  const next = closed.status === 0 ? current?.steps[(step ?? 0) + 1] : undefined;
  if (next) current?.options.onStep?.(next);
  else {
    const following = plans[(plan ?? 0) + 1];
    if (following?.steps[0]) following.options.onStep?.(following.steps[0]);
  }
}

/** The step under way once more, with how far it is. */
function tellProgress(plans: readonly Plan[], label: string, said: string): void {
  const [plan = 0, number = 0] = label.split(".").map(Number);
  const step = plans[plan]?.steps[number];
  if (step !== undefined && said !== "")
    plans[plan]?.options.onStep?.({ ...step, say: `${step.say}: ${said}` });
}

/** The first step of a plan that did not succeed, as an error; undefined when all did. */
function failureOf(
  host: string,
  steps: readonly Step[],
  answer: (step: number) => Frame | undefined,
  broken: TransportError,
): Error | undefined {
  for (const [number, step] of steps.entries()) {
    const frame = answer(number);
    if (frame?.status === 0) continue;
    if (frame === undefined) {
      const message = `${host}: the connection broke during: ${step.say}. Run again: what is done stays, the rest follows.`;
      return new TransportError(host, message, { cause: broken });
    }
    const said = withoutSecret(step, frame.stderr.trim() || frame.stdout.trim() || "nothing");
    const message = `${host}: could not ${step.say}: ${stepLine(step)} ended with ${frame.status} and said: ${said}`;
    return new CommandError(host, frame.status, message);
  }
  return undefined;
}

/**
 * What a program said, without the lines that may hold a part of the step's secret: programs quote, cut and escape
 * what they complain of, so four characters in a row of any of its words are enough, or the whole of a shorter one.
 */
function withoutSecret(step: Step, said: string): string {
  if (!("secret" in step)) return said;
  const secret = "argv" in step ? (step.stdin ?? "") : "file" in step ? step.text : step.value;
  const parts = secret
    .split(/\s+/)
    .filter((word) => word !== "")
    .flatMap((word) => Array.from({ length: Math.max(1, word.length - 3) }, (_, n) => word.slice(n, n + 4)));
  return said
    .split("\n")
    .map((line) => (parts.some((part) => line.includes(part)) ? "[not shown: it may hold the secret]" : line))
    .join("\n");
}

function controlFolder(): string {
  const folder = join(process.env.XDG_RUNTIME_DIR ?? tmpdir(), `storage-lab-${userInfo().uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}
