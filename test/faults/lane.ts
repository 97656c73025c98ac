import { existsSync } from "node:fs";
import { join } from "node:path";
import { typeOf } from "../../provider/registry.ts";
import type { Kind } from "./fault.ts";
import { Guest } from "./guest.ts";
import { machineDisk, machineEnd } from "./machine.ts";
import type { Point } from "./points.ts";
import { FaultProject } from "./pulumi.ts";
import type { Result } from "./result.ts";
import { Round } from "./round.ts";
import type { HostName, Lab, Scenario } from "./scenario.ts";

/**
 * A lane: a copy of the project with guests of its own, in which scenarios run one after the other. Two lanes
 * share nothing but the processors.
 */

export class Lane {
  readonly #project = new FaultProject();
  readonly #guests = new Map<HostName, Guest>();
  readonly #lab: Lab;
  readonly #say: (line: string) => void;
  #base = "";

  constructor(say: (line: string) => void) {
    this.#say = say;
    const { own } = this.#project;
    const address = {
      storage: new Guest("storage", own).address,
      initiator: new Guest("initiator", own).address,
    };
    this.#lab = { address, folder: own };
  }

  /** Everything that was started here is ended and removed. */
  async close(): Promise<void> {
    // Its guests first: a run that waits for one ends then.
    await this.#clear();
    await this.#project.remove();
  }

  async #clear(): Promise<void> {
    await Promise.all([...this.#guests.values()].map((guest) => guest.remove()));
    await machineEnd(this.#lab.folder);
  }

  /** Guests as they come from the image, and empty stacks: the begin, and what follows a fault that was lost. */
  async renew(): Promise<void> {
    await this.#clear();
    this.#guests.clear();
    await this.#project.begin();
    this.#base = "";
  }

  async #stand(scenario: Scenario): Promise<void> {
    if (!existsSync(join(this.#project.folder, ".state"))) await this.#project.begin();
    const missing = scenario.guests.filter((name) => !this.#guests.has(name));
    if (missing.length > 0) this.#say(`${missing.join(" and ")}: booting`);
    await Promise.all(
      missing.map((name) => {
        const guest = new Guest(name, this.#project.own);
        this.#guests.set(name, guest);
        return guest.start();
      }),
    );
    const base = scenario.base(this.#lab);
    if (JSON.stringify(base) === this.#base) return;
    this.#say(
      `${scenario.type} is given what it stands on: ${base.map(({ type }) => type).join(", ") || "nothing"}`,
    );
    this.#project.declare("base", base);
    await this.#project.must("base");
    this.#base = JSON.stringify(base);
  }

  /** Not everybody may mount a small disk for the machines; without it this machine's own would be filled. */
  async #possible({ host, type }: Scenario, wanted: readonly Kind[]): Promise<Kind[]> {
    if (host !== "local" || (await machineDisk(this.#lab.folder))) return [...wanted];
    if (wanted.includes("full"))
      this.#say(`${type}: its disk is not filled, since that takes root (mount -t tmpfs)`);
    return wanted.filter((kind) => kind !== "full");
  }

  /**
   * Runs a scenario: first undisturbed, which shows its steps and what stands after each operation, then round
   * after round with a fault in each operation. `choose` takes from all its points those that are wanted.
   */
  async run(
    scenario: Scenario,
    wanted: readonly Kind[],
    choose: (points: Point[]) => Point[],
    done: (result: Result) => void,
  ): Promise<void> {
    const type = typeOf(`storagelab:${scenario.type}`);
    if (type === undefined) throw new Error(`no resource type ${scenario.type}`);
    await this.#stand(scenario);
    const possible = await this.#possible(scenario, wanted);
    const round = new Round(scenario, type, this.#lab, this.#project, this.#guests);
    const all = await round.undisturbed(possible);
    const points = choose(all);
    const todo = new Map(round.operations.map((name) => [name, points.filter((p) => p.operation === name)]));
    this.#say(`${scenario.type}: ${points.length} of ${all.length} faults`);
    while ([...todo.values()].some((left) => left.length > 0)) {
      for (const operation of round.operations) {
        const point = todo.get(operation)?.shift();
        const last = operation === "delete";
        if (point === undefined) {
          const needed = last || operation === "create" ? !round.at(operation) : false;
          if (needed) await round.plainly(operation);
          continue;
        }
        const result = await round.struck(point);
        done(result);
        if (result.outcome !== "lost") continue;
        await this.renew();
        await this.#stand(scenario);
        await this.#possible(scenario, wanted);
        await round.anew();
        break;
      }
    }
  }
}
