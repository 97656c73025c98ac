import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** Runs the commands of local:Command, each in a process group of its own, so that cancelling ends all it started. */

export type Inputs = {
  create?: string;
  update?: string;
  delete?: string;
  triggers?: unknown[];
  stdin?: string;
  logging?: "stdout" | "stderr" | "stdoutAndStderr" | "none";
  interpreter?: string[];
  dir?: string;
  environment?: Record<string, string>;
  addPreviousOutputInEnv?: boolean;
};

export type Outputs = { stdout: string; stderr: string };

const running = new Set<ChildProcess>();

/** Runs `command`; hands each line to `log` as it comes, and resolves when the program and its output have ended. */
export async function runCommand(
  command: string,
  inputs: Inputs,
  previous: Partial<Outputs>,
  log: (line: string) => void,
): Promise<Outputs> {
  const [file = "/bin/sh", ...args] = inputs.interpreter?.length ? inputs.interpreter : ["/bin/sh", "-c"];
  const child = spawn(file, [...args, command], {
    detached: true,
    ...(inputs.dir === undefined ? {} : { cwd: inputs.dir }),
    env: { ...process.env, ...inputs.environment, ...previousOutput(inputs, previous) },
    stdio: [inputs.stdin ? "pipe" : "ignore", "pipe", "pipe"],
  });
  running.add(child);
  // A command that does not read all of its input is no error.
  child.stdin?.on("error", () => {}).end(inputs.stdin);

  const logging = inputs.logging ?? "stdoutAndStderr";
  const both: string[] = [];
  const collect = async (stream: Readable | null, logged: boolean): Promise<string> => {
    if (stream === null) return "";
    stream.setEncoding("utf8");
    let text = "";
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      both.push(line);
      if (logged) log(line);
    }
    return text.replace(/\n$/, "");
  };
  const output = Promise.all([
    collect(child.stdout, logging === "stdout" || logging === "stdoutAndStderr"),
    collect(child.stderr, logging === "stderr" || logging === "stdoutAndStderr"),
  ]);
  const ended = new Promise<string | undefined>((done, failed) => {
    child.on("error", (cause) => failed(new Error(`${file} can't be started: ${cause.message}`, { cause })));
    child.on("exit", (code, signal) =>
      done(code === 0 ? undefined : signal ? `signal: ${signal}` : `exit status ${code}`),
    );
  });

  try {
    const [failure, [stdout, stderr]] = await Promise.all([ended, output]);
    if (failure !== undefined)
      throw new Error(`${failure}: running ${JSON.stringify(command)}:\n${both.join("\n")}`);
    return { stdout, stderr };
  } finally {
    running.delete(child);
  }
}

/** An update and a delete find what the command before them printed. */
function previousOutput(inputs: Inputs, previous: Partial<Outputs>): Record<string, string> {
  if (inputs.addPreviousOutputInEnv === false) return {};
  return {
    ...(previous.stdout ? { PULUMI_COMMAND_STDOUT: previous.stdout } : {}),
    ...(previous.stderr ? { PULUMI_COMMAND_STDERR: previous.stderr } : {}),
  };
}

/** Ends every command that runs, with its children: asked first, forced after a while. */
export async function endCommands(graceMs = 10_000): Promise<void> {
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of running)
      try {
        if (pid !== undefined) process.kill(-pid, name);
      } catch {
        // It has ended by itself.
      }
  };
  signal("SIGTERM");
  const deadline = Date.now() + graceMs;
  while (running.size > 0 && Date.now() < deadline) await new Promise((done) => setTimeout(done, 50));
  signal("SIGKILL");
}
