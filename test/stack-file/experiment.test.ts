import assert from "node:assert/strict";
import { test } from "node:test";
import { experimentAsked, experimentVariable, withExperiment } from "../../stack-file/experiment.ts";

const key = "storage-lab:benchmark";
const experiment = { occasion: "1", benchmark: { workload: "smoke" } };

test("without an experiment, or one without a benchmark, settings are as they are", () => {
  const settings = { [key]: '{"workload":"random"}', "storage-lab:hosts": "{}" };
  assert.deepEqual(withExperiment(settings, undefined, undefined), settings);
  assert.deepEqual(withExperiment(settings, undefined, { occasion: "1" }), settings);
});

test("its benchmark stands in place of the stack's, whole; what belongs to the lab stays", () => {
  const own = {
    workload: "random",
    size: "1 GiB",
    needs: { failures: 2 },
    targets: ["iqn.x"],
    reference: "lab-b",
  };
  const wanted = { needs: { failures: 2 }, targets: ["iqn.x"], reference: "lab-b", workload: "smoke" };
  const found = (settings: Record<string, string>, base?: Record<string, unknown>) =>
    JSON.parse(withExperiment(settings, base && { stack: "lab", settings: base }, experiment)[key] ?? "");
  assert.deepEqual(found({ [key]: JSON.stringify(own) }), wanted);
  // From the base, where the stack has none of its own; as everywhere, its own stands before the base's.
  assert.deepEqual(found({}, { [key]: own }), wanted);
  assert.deepEqual(found({ [key]: "none" }, { [key]: own }), { workload: "smoke" });
  assert.deepEqual(found({}), { workload: "smoke" });
});

test("the variable: nothing of it, what it holds, and what is not right", () => {
  assert.equal(experimentAsked({}), undefined);
  assert.equal(experimentAsked({ [experimentVariable]: "" }), undefined);
  assert.deepEqual(experimentAsked({ [experimentVariable]: JSON.stringify(experiment) }), experiment);
  assert.throws(
    () => experimentAsked({ [experimentVariable]: '{"benchmark":{}}' }),
    /STORAGE_LAB_EXPERIMENT is not right/,
  );
});
