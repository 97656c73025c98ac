import assert from "node:assert/strict";
import { test } from "node:test";
import { laneRate, pcieName, pcieRate } from "../../../bench/model/pcie.ts";

test("a lane carries what its coding leaves", () => {
  for (const [speed, rate] of [
    [2.5, 250],
    [5, 500],
    [8, 984.6],
    [16, 1969.2],
    [32, 3938.5],
  ] as const)
    assert.equal(Math.round(laneRate(speed) * 10) / 10, rate, `${speed} GT/s`);
});

test("a slot carries its lanes less packets' headers and acknowledgements", () => {
  // Lab A's HBA: 4,000 MB/s after coding.
  assert.equal(Math.round(pcieRate({ speed: 5, width: 8 })), 3362);
  // Neugebauer et al. 2018 measured about 53 Gbit/s of writes on 8 GT/s x8.
  assert.equal(Math.round((pcieRate({ speed: 8, width: 8 }) * 8) / 1000), 53);
});

test("a slot is called as people call it, one of an unknown speed by that", () => {
  assert.equal(pcieName({ speed: 5, width: 8 }), "PCIe 2.0 x8");
  assert.equal(pcieName({ speed: 32, width: 4 }), "PCIe 5.0 x4");
  assert.equal(pcieName({ speed: 64, width: 4 }), "PCIe 64 GT/s x4");
});
