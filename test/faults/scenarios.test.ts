import assert from "node:assert/strict";
import { test } from "node:test";
import { typeOf } from "../../provider/registry.ts";
import { scenariosOf } from "./main.ts";
import { type HostName, hosts, type Lab } from "./scenario.ts";

const addresses = hosts.map((name) => [name, { name, ssh: name, config: "ssh_config" }]);
const lab: Lab = {
  address: Object.fromEntries(addresses) as Record<HostName, Lab["address"][HostName]>,
  folder: "/tmp/lane",
};

test("every resource type has a scenario, and only resource types have", () => {
  for (const { type } of scenariosOf([])) assert.ok(typeOf(`storagelab:${type}`), type);
  assert.throws(() => scenariosOf(["zfs:Pol"]), /there is no type zfs:Pol; there are zfs:/);
});

for (const scenario of scenariosOf([])) {
  test(`what is declared of ${scenario.type} and below it is valid`, () => {
    const host = { name: "local", ssh: "local" };
    const created = { host, ...scenario.create(lab) };
    const changed = { ...created, ...scenario.update, ...scenario.replace };
    const declared = [created, changed].map((inputs) => ({ type: scenario.type, inputs }));
    for (const { type, inputs } of [...scenario.base(lab), ...declared]) {
      const definition = typeOf(`storagelab:${type}`);
      assert.deepEqual(definition?.inputs.safeParse(inputs).error?.issues ?? [], []);
      assert.deepEqual(definition?.rules?.(inputs) ?? [], []);
    }
    const identity = (inputs: object) => typeOf(`storagelab:${scenario.type}`)?.identity(inputs as never);
    if (scenario.update !== undefined) assert.equal(identity(changed), identity(created));
    if (scenario.replace !== undefined) assert.notEqual(identity(changed), identity(created));
  });
}
