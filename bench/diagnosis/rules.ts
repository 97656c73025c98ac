import type { Rule } from "./rule.ts";
import { arcServed } from "./rules/arc-served.ts";
import { clientCpu } from "./rules/client-cpu.ts";
import { coreFull } from "./rules/core-full.ts";
import { coreSoftirq } from "./rules/core-softirq.ts";
import { coreSystem } from "./rules/core-system.ts";
import { diskSlowest } from "./rules/disk-slowest.ts";
import { disksBusy } from "./rules/disks-busy.ts";
import { hba } from "./rules/hba.ts";
import { invalid } from "./rules/invalid.ts";
import { latencyTail } from "./rules/latency-tail.ts";
import { linkRate } from "./rules/link-rate.ts";
import { packetLoss } from "./rules/packet-loss.ts";
import { partialWrites } from "./rules/partial-writes.ts";
import { pathMtu } from "./rules/path-mtu.ts";
import { pcieLanes } from "./rules/pcie-lanes.ts";
import { queueDepth } from "./rules/queue-depth.ts";
import { slog } from "./rules/slog.ts";
import { storageCpu } from "./rules/storage-cpu.ts";
import { submission } from "./rules/submission.ts";
import { throttled } from "./rules/throttled.ts";

/**
 * All rules, one file each; a new one is added here. The order decides between two that are equally near to full:
 * a single core before the whole CPU that it is part of, the cause before what follows from it.
 */
export const rules: readonly Rule[] = [
  ...[invalid, throttled],
  ...[coreSoftirq, coreSystem, coreFull],
  ...[linkRate, slog, diskSlowest, hba, disksBusy, pcieLanes],
  ...[storageCpu, clientCpu],
  ...[packetLoss, partialWrites, arcServed, latencyTail],
  ...[pathMtu, submission, queueDepth],
];
