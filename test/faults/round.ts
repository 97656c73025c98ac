import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { AnyType } from "../../provider/context.ts";
import { Host } from "../../provider/host.ts";
import { typeOf } from "../../provider/registry.ts";
import { type Step, stepLine } from "../../provider/step.ts";
import type { Fault, Kind } from "./fault.ts";
import type { Guest } from "./guest.ts";
import { machineFacts, machineFree, machineRun } from "./machine.ts";
import { type Operation, type Point, pointName, pointsOf } from "./points.ts";
import { type FaultProject, projectName, type Ran } from "./pulumi.ts";
import { differences, type Result } from "./result.ts";
import type { Declared, HostName, Lab, Scenario } from "./scenario.ts";

type Place = { readonly inputs: Record<string, unknown> | undefined; readonly facts: string };

/** The operations of one scenario, one after the other, and what has to stand after each. */
export class Round {
  readonly operations: readonly Operation[];
  readonly #scenario: Scenario;
  readonly #type: AnyType;
  readonly #lab: Lab;
  readonly #project: FaultProject;
  readonly #guests: ReadonlyMap<HostName, Guest>;
  readonly #after = new Map<Operation | "nothing", Place>();
  readonly #hosts = new Map<string, Host>();
  #now: Operation = "delete";

  constructor(
    scenario: Scenario,
    type: AnyType,
    lab: Lab,
    project: FaultProject,
    guests: ReadonlyMap<HostName, Guest>,
  ) {
    this.#scenario = scenario;
    this.#type = type;
    this.#lab = lab;
    this.#project = project;
    this.#guests = guests;
    const changes: Operation[] = scenario.update ? ["update"] : scenario.replace ? ["replace"] : [];
    this.operations = ["create", ...changes, "delete"];
  }

  at(operation: Operation): boolean {
    return this.#now === operation;
  }

  /** Each operation once, without a fault; its points, and what stands afterwards by programs that are not ours. */
  async undisturbed(wanted: readonly Kind[]): Promise<Point[]> {
    // What an earlier scenario stood on may have left the same behind.
    await this.#tidy("delete");
    this.#after.set("nothing", { inputs: undefined, facts: await this.#facts() });
    const points: Point[] = [];
    for (const operation of this.operations) {
      await this.#prepare(operation);
      this.#declare(operation);
      const seen = await this.#project.must("under");
      for (const [line, says] of this.#scenario.proofs[operation] ?? []) {
        const answer = await this.#on(line);
        if (!says.test(answer))
          throw new Error(`${this.#scenario.type}: after ${operation}, ${line} says ${answer}, not ${says}`);
      }
      this.#after.set(operation, { inputs: this.#inputs(operation), facts: await this.#facts() });
      await this.#tidy(operation);
      points.push(...pointsOf(this.#scenario.type, operation, seen, wanted));
    }
    const left = differences(this.#after.get("nothing")?.facts ?? "", await this.#facts());
    if (left.length > 0)
      throw new Error(`${this.#scenario.type} leaves this after its delete:\n${left.join("\n")}`);
    return points;
  }

  async plainly(operation: Operation): Promise<void> {
    await this.#prepare(operation);
    this.#declare(operation);
    await this.#project.must("under");
    await this.#tidy(operation);
  }

  async anew(): Promise<void> {
    this.#now = "delete";
    await this.#tidy("delete");
  }

  /** The operation with a fault in it, then `up` again, and a look at everything. */
  async struck(point: Point): Promise<Result> {
    const began = performance.now();
    const { operation, kind, at, endOf, during } = point;
    await this.#prepare(operation);
    this.#declare(operation);
    const local = this.#scenario.host === "local";
    const fault: Fault = {
      kind,
      at,
      ...(endOf !== undefined && { endOf }),
      ...(during !== undefined && { during }),
      ...(local && { folder: join(this.#lab.folder, "machines/under") }),
    };
    const first = await this.#strike(fault);
    const step = endOf === undefined ? (first.seen.steps[at] ?? "no such step this time") : "the end";
    const landed = await this.#landed(fault, first);
    const again = await this.#project.up("under");
    const problems = await this.#problems(operation, again, kind);
    const result = (outcome: Result["outcome"], detail?: string): Result => ({
      ...point,
      step,
      outcome,
      seconds: Math.round((performance.now() - began) / 100) / 10,
      ...(detail !== undefined && { detail }),
    });
    if (problems.length > 0) {
      const whole = [...problems, `the struck up (${first.exitCode}) said:\n${first.said}`].join("\n");
      return result("lost", `${pointName(point)}: ${whole}`);
    }
    await this.#tidy(operation);
    return result(landed ? "survived" : "missed");
  }

  /** The `up` that is struck. After a loss of power it ends once its guest is back, which knows nothing of its connection. */
  async #strike(fault: Fault): Promise<Ran> {
    const guest = fault.kind === "reboot" ? this.#host() : undefined;
    let back: Promise<void> | undefined;
    const ran = await this.#project.up("under", fault, () => {
      back = guest?.booted().then(() => guest.reset());
      back?.catch(() => {});
    });
    await back;
    return ran;
  }

  /** Did the fault strike while the run was under way? Waits until all of it is over: a boot, a full disk. */
  async #landed({ kind, during = 0, folder }: Fault, { exitCode, seen }: Ran): Promise<boolean> {
    // Where the step was quicker than before, the blow may still come.
    if (seen.struck && during > 0) await pause(during * 1000);
    const guest = this.#host();
    if (kind === "full") {
      const full = guest === undefined ? machineFree(folder ?? "") : await guest.free();
      return seen.struck && full;
    }
    return seen.struck && exitCode !== 0;
  }

  /** What is not as after an undisturbed run, a line each. */
  async #problems(operation: Operation, again: Ran, kind: Kind): Promise<string[]> {
    if (again.exitCode !== 0) return [`the up after it ended with ${again.exitCode}:\n${again.said}`];
    const problems: string[] = [];
    problems.push(...this.#project.pending("under").map((operation) => `the state still says: ${operation}`));
    if (/pending operations/.test(again.said))
      problems.push(`the up warns of pending operations:\n${again.said}`);
    const inputs = this.#inputs(operation);
    const last = inputs ?? this.#inputs("create");
    problems.push(...(await this.#rest(this.#type, inputs, last, "under")));
    if (kind === "reboot") {
      const base = this.#scenario.base(this.#lab).map(({ type, inputs: own }) => {
        const one = typeOf(`storagelab:${type}`);
        return one === undefined ? [] : this.#rest(one, own, own, "base");
      });
      problems.push(...(await Promise.all(base)).flat());
    }
    if (kind === "provider" || kind === "engine") {
      const changes = await this.#project.changes("under");
      if (changes !== undefined) problems.push(`the engine sees more to do:\n${changes}`);
    }
    const expected = this.#after.get(operation)?.facts ?? "";
    const before = operation === "delete" ? (this.#after.get("nothing")?.facts ?? "") : expected;
    problems.push(...differences(expected, await this.#facts(), before));
    return problems;
  }

  /** The second plan, by the type itself: empty where all is as declared. */
  async #rest(type: AnyType, desired: unknown, inputs: unknown, stack: string): Promise<string[]> {
    const address = (inputs as Declared["inputs"]).host;
    // One for each host, so that what is asked at the same time travels together.
    const host = this.#hosts.get(address.name) ?? new Host(address);
    this.#hosts.set(address.name, host);
    const observed = await type.observe(host, inputs);
    const steps: Step[] = type.plan(desired, observed, inputs, `${projectName}/${stack}`);
    return steps.map((step) => `${type.type} of ${stack} is not as declared; still to do: ${stepLine(step)}`);
  }

  #inputs(operation: Operation): Record<string, unknown> | undefined {
    const { host, create, update, replace } = this.#scenario;
    if (operation === "delete") return undefined;
    const address = host === "local" ? { name: "local", ssh: "local" } : this.#lab.address[host];
    const changed = operation === "create" ? {} : (update ?? replace ?? {});
    return { host: address, ...create(this.#lab), ...changed };
  }

  #declare(operation: Operation): void {
    const inputs = this.#inputs(operation) as Declared["inputs"] | undefined;
    // One name in the program, so that a replacement is one.
    this.#project.declare("under", inputs ? [{ name: "under", type: this.#scenario.type, inputs }] : []);
    this.#now = operation;
  }

  async #prepare(operation: Operation): Promise<void> {
    const { beforeDelete } = this.#scenario;
    if (operation === "delete" && beforeDelete !== undefined) await this.#on(beforeDelete);
  }

  async #tidy(operation: Operation): Promise<void> {
    const { afterDelete } = this.#scenario;
    if (operation === "delete" && afterDelete !== undefined) await this.#on(afterDelete);
  }

  #host(): Guest | undefined {
    return this.#scenario.host === "local" ? undefined : this.#guests.get(this.#scenario.host);
  }

  #on(line: string): Promise<string> {
    return this.#host()?.run(line) ?? machineRun(join(this.#lab.folder, "machines/under"), line);
  }

  /** All that stands on the guests and here, a line each. */
  async #facts(): Promise<string> {
    const guests = await Promise.all(
      [...this.#guests.values()].map(async (guest) => {
        return (await guest.facts()).map((line) => `${guest.name}: ${line}`);
      }),
    );
    const here = [...machineFacts(this.#lab.folder), ...(await this.#left())];
    return [...guests.flat(), ...here].sort().join("\n");
  }

  /** Locks of engines, and plugins without an engine, which leave by themselves. */
  async #left(): Promise<string[]> {
    const locks = join(this.#project.folder, ".state/.pulumi/locks");
    const held = existsSync(locks)
      ? readdirSync(locks, { recursive: true }).filter((file) => String(file).endsWith(".json"))
      : [];
    const deadline = Date.now() + 20_000;
    while (plugins(this.#project.folder).length > 0 && Date.now() < deadline) await pause(100);
    return [
      ...held.map((file) => `here: lock ${file}`),
      ...plugins(this.#project.folder).map((pid) => `here: plugin ${pid}`),
    ];
  }
}

/** Processes of the provider in this folder. */
function plugins(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`${folder}/test/faults/plugin/main.ts`);
    } catch {
      return false;
    }
  });
}
