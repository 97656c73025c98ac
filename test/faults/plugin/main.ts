import { appendFileSync } from "node:fs";
import { Host } from "../../../provider/host.ts";
import type { Step } from "../../../provider/step.ts";
import { dealtHere, type Fault, inject } from "../fault.ts";
import type { Report } from "../report.ts";

/**
 * The provider with a fault in it. STORAGE_LAB_FAULT says which, none to only write down what is planned;
 * STORAGE_LAB_FAULT_REPORT is the file that tells the harness what happened, a JSON document a line.
 */

const fault = process.env.STORAGE_LAB_FAULT
  ? (JSON.parse(process.env.STORAGE_LAB_FAULT) as Fault)
  : undefined;
const file = process.env.STORAGE_LAB_FAULT_REPORT;

function report(line: Report): void {
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`);
}

let planned = 0;
let plans = 0;
let struck = false;

function strike({ kind, during = 0, folder }: Fault): void {
  const kill = (): void => {
    // Where this machine loses power, both go.
    if (kind === "engine" || folder !== undefined) process.kill(process.ppid, "SIGKILL");
    if (kind === "provider" || folder !== undefined) process.kill(process.pid, "SIGKILL");
  };
  if (!dealtHere(kind) && !(kind === "reboot" && folder !== undefined)) return;
  if (during === 0 && kind !== "reboot") kill();
  // The host's own part of a power cut first.
  else setTimeout(kill, during * 1000 + (kind === "reboot" ? 100 : 0));
}

const { apply } = Host.prototype;
Host.prototype.apply = async function (steps, options) {
  if (steps.length === 0) return;
  const from = planned;
  planned += steps.length;
  plans += 1;
  report({ planned: steps.map(({ say }) => say) });
  const injected = fault === undefined || struck ? undefined : inject(steps, fault, { from, number: plans });
  let last: Step | undefined;
  const began = performance.now();
  let since = began;
  const lap = (): void => {
    const now = performance.now();
    const step = last === undefined ? -1 : steps.indexOf(last);
    if (step >= 0) report({ step: from + step, seconds: (now - since) / 1000 });
    since = now;
  };
  const onStep = (step: Step): void => {
    lap();
    last = step;
    if (fault !== undefined && step === injected?.strike) {
      struck = true;
      report({ struck: true });
      strike(fault);
    } else if (!step.say.startsWith("fault: ")) options.onStep?.(step);
  };
  await apply.call(this, injected?.steps ?? steps, { ...options, onStep });
  lap();
};

await import("../../../provider/main.ts");
