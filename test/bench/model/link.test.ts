import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { efficiency, iscsiEfficiency, type Wire } from "../../../bench/model/link.ts";

const wire = (fields: Partial<Wire>): Wire => ({
  ...{ kind: "ethernet", mtu: 1500, rdmaMtu: null, mode: null },
  ...fields,
});
const percent = (part: number | null): number | null => part && Math.round(part * 1000) / 10;
const block = 512 * 1024;

describe("what headers leave of a link", () => {
  for (const [what, protocol, at, expected] of [
    // 1448 of 1538 bytes a frame: the 94.1 % of Gigabit Ethernet that every iperf shows, less the PDUs' headers.
    ["TCP, Ethernet of MTU 1500", "iscsi", wire({}), 94.1],
    ["TCP, jumbo frames", "iscsi", wire({ mtu: 9000 }), 99.0],
    [
      "TCP, IPoIB datagram, MTU 2044",
      "iscsi",
      wire({ kind: "infiniband", mtu: 2044, mode: "datagram" }),
      95.7,
    ],
    [
      "TCP, IPoIB connected, MTU 65520 in packets of 2048",
      "iscsi",
      wire({ kind: "infiniband", mtu: 65520, mode: "connected", rdmaMtu: 2048 }),
      98.6,
    ],
    ["RoCE v2, RDMA MTU 1024", "iser", wire({ rdmaMtu: 1024 }), 92.6],
    ["RoCE v2, RDMA MTU 4096", "iser", wire({ mtu: 4200, rdmaMtu: 4096 }), 98],
    ["InfiniBand, path MTU 2048", "iser", wire({ kind: "infiniband", rdmaMtu: 2048 }), 98.7],
    ["InfiniBand, path MTU 256", "iser", wire({ kind: "infiniband", rdmaMtu: 256 }), 90.8],
    ["iSER where the device doesn't say its MTU", "iser", wire({}), null],
    ["TCP over a link of an unknown kind", "iscsi", wire({ kind: "unknown" }), null],
    ["TCP where the interface doesn't say its MTU", "iscsi", wire({ mtu: null }), null],
  ] as const)
    test(what, () => assert.equal(percent(efficiency(protocol, at, block)), expected));

  test("small PDUs cost a header each", () => {
    assert.equal(percent(iscsiEfficiency(wire({}), 512)), 86.1);
    assert.equal(percent(efficiency("iscsi", wire({}), 512)), 86.1);
  });
});
