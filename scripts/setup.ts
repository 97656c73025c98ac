import { join } from "node:path";
import { locked } from "./cache.ts";
import { cacheRoot } from "./environment.ts";
import { duration } from "./progress.ts";
import { acceleratorStep } from "./steps/accelerator.ts";
import { commandPluginStep } from "./steps/command-plugin.ts";
import { testPackages } from "./steps/for-tests.ts";
import { imageMissing, imageStep } from "./steps/image.ts";
import { installBySudo, packagesStep, refuseOtherMachines, wantedPackages } from "./steps/packages.ts";
import { pulumiMissing, pulumiStep } from "./steps/pulumi-cli.ts";
import { qemuMissing, qemuStep } from "./steps/qemu.ts";
import { stacksStep } from "./steps/stacks.ts";
import { runSteps, type Step } from "./steps.ts";

/**
 * Brings what the project needs beyond node_modules, in order; what is there already is only looked at. Stacks
 * are made for whoever works here; tests make their own, and leave this folder as it is. Tests also need a browser and fio.
 *
 * Tried on Debian 12, as root and as a normal user (bootstrapping in user namespaces), with Node 20, with and
 * without Go, and with an operator's own Pulumi. Not tried: Ubuntu, where the kernel may ask for an AppArmor profile
 * before it lets mmdebstrap make user namespaces; a machine where KVM works; one that reaches Pulumi's releases.
 */
export async function setUp({ stacks, tests = false }: { stacks: boolean; tests?: boolean }): Promise<void> {
  const start = performance.now();
  refuseOtherMachines();
  const root = cacheRoot();
  const missing = await Promise.all([pulumiMissing(), qemuMissing(), imageMissing()]);
  const packages = [...wantedPackages(missing.includes(true)), ...(tests ? testPackages() : [])];
  const machine: Step[] = [
    packagesStep(packages),
    pulumiStep,
    commandPluginStep,
    qemuStep,
    imageStep,
    acceleratorStep,
  ];
  const steps = stacks ? [...machine, stacksStep] : machine;
  // Ending the process ends what the steps have started: each listens for its exit.
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const leave = () => process.exit(130);
  for (const signal of signals) process.on(signal, leave);

  await installBySudo(packages);
  const waiting = () => console.log(`Another set-up is working in ${root}; waiting for it`);
  const brought = await locked(root, waiting, () => runSteps(steps, join(root, "log")));
  for (const signal of signals) process.off(signal, leave);

  const took = performance.now() - start;
  const time = took < 1000 ? `${Math.round(took)} ms` : duration(Math.round(took / 1000));
  console.log(
    brought === 0 ? `Set-up: nothing to do (${time})` : `Set-up: done (${time}), and not needed again`,
  );
  console.log(`  Pulumi: ${await pulumiStep.check()}; command plugin: ${await commandPluginStep.check()}`);
  console.log(
    `  Guests: ${await imageStep.check()}; QEMU: ${await qemuStep.check()}, ${await acceleratorStep.check()}`,
  );
}
