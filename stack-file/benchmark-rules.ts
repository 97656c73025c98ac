import { prefillSize } from "../bench/fio/prefill.ts";
import { planProblems } from "../bench/plan.ts";
import { referenceNames } from "../bench/reference.ts";
import type { Test } from "../bench/schema/test.ts";
import { serverOf } from "../components/iscsi-inputs.ts";
import type { LabConfig } from "../config.ts";
import { formatSize, parseSize } from "../provider/size.ts";
import { type BenchmarkConfig, measuredTargets, testsOfStack } from "./benchmark.ts";
import { known, type Problem } from "./problems.ts";

/** Rules of the benchmark over other parts of the stack file. */
export function benchmarkRules(lab: LabConfig): Problem[] {
  const { benchmark: asked, filesystem, targets } = lab;
  if (asked === undefined) return [];
  const wrong: Problem[] = [];
  if (Object.keys(targets).length === 0)
    wrong.push(["benchmark", "it measures a target, and targets has none; leave benchmark out"]);
  if (filesystem === undefined)
    wrong.push(["benchmark", "it measures a file on the LUN: declare filesystem, {} is enough"]);
  for (const name of asked.targets ?? []) {
    if (targets[name] === undefined)
      wrong.push(["benchmark.targets", `no target ${name}${known("targets", targets)}`]);
  }
  const servers = new Set(measuredTargets(lab).map(([, target]) => serverOf(lab, target)));
  if (servers.size > 1)
    wrong.push([
      "benchmark.targets",
      `they are on different hosts (${[...servers].join(", ")}); one benchmark measures one storage host`,
    ]);
  if (!referenceNames().includes(asked.reference))
    wrong.push([
      "benchmark.reference",
      `no published lab ${asked.reference}; there are ${referenceNames().join(", ")}`,
    ]);
  return [...wrong, ...testRules(lab, asked)];
}

function testRules(lab: LabConfig, asked: BenchmarkConfig): Problem[] {
  let tests: Test[];
  try {
    tests = testsOfStack(asked);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [["benchmark.workload", error.message]];
  }
  if (tests.length === 0)
    return [
      [
        "benchmark.directions",
        `${asked.workload.join(", ")} has no test of ${asked.directions?.join(", ")}; nothing would be measured`,
      ],
    ];
  const plan = planProblems({ tests, protocols: asked.protocols, repeats: asked.repeats });
  return [
    ...plan.map((sentence): Problem => ["benchmark", sentence]),
    ...spaceRules(lab, tests),
    ...ramdiskRules(lab, tests),
  ];
}

/** What the tests need on each LUN against the size of its volume; a clone's size is its origin's, not known here. */
function spaceRules(lab: LabConfig, tests: readonly Test[]): Problem[] {
  const files = tests.map((test) => (test.kind === "files" ? test.files * test.fileSize : 0));
  const needed = prefillSize(tests) + Math.max(0, ...files);
  return measuredTargets(lab).flatMap(([, { luns }]): Problem[] => {
    const [lun = ""] = luns;
    const size = parseSize(lab.volumes[lun]?.size ?? "");
    if (size === undefined || needed < size) return [];
    return [
      [
        "benchmark.size",
        `the tests need ${formatSize(BigInt(needed))} (${needed} bytes) of a file system on ${lun}, a volume of ${formatSize(size)} (${size} bytes): say a smaller size here, or make the volume larger`,
      ],
    ];
  });
}

/** Tests of the fabric alone run on the target's RAM disk, which the stack file declares. */
function ramdiskRules(lab: LabConfig, tests: readonly Test[]): Problem[] {
  const sizes = tests.flatMap((test) =>
    test.kind === "fio" && test.backstore === "ramdisk" ? [test.size] : [],
  );
  const needed = Math.max(0, ...sizes);
  return measuredTargets(lab).flatMap(([name, { ramdisk }]): Problem[] => {
    const size = Number(parseSize(ramdisk ?? "0") ?? 0n);
    if (needed <= size) return [];
    const wanted = formatSize(BigInt(needed));
    const has = ramdisk === undefined ? "has none" : `has ${ramdisk} (${size} bytes)`;
    return [
      [
        `targets.${name}.ramdisk`,
        `the tests need a RAM disk of ${wanted} (${needed} bytes), and the target ${has}: write ramdisk: ${wanted} here, or a smaller benchmark.size`,
      ],
    ];
  });
}
