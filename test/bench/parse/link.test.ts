import assert from "node:assert/strict";
import { test } from "node:test";
import { documents } from "../../../bench/parse/documents.ts";
import {
  linkSpeed,
  parseActiveMtu,
  parseInterface,
  parseRdmaLink,
  parseRoute,
} from "../../../bench/parse/link.ts";
import { parseMounts } from "../../../bench/parse/mounts.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded } from "../../recorded.ts";

test("the interface between the hosts", () => {
  assert.equal(parseRoute(recorded("ip--route-get--6.15.0")), "eth1");
  assert.deepEqual(parseInterface(recorded("ip--address-show-dev--6.15.0")), { name: "eth1", mtu: 4200 });
  assert.deepEqual(parseInterface(recorded("ip--address-show-to--6.15.0")), { name: "eth1", mtu: 4200 });
  assert.deepEqual(parseInterface('[{},{"ifname":"ib0","mtu":65520},{}]'), { name: "ib0", mtu: 65520 });
  assert.throws(() => parseInterface("[{},{}]"), /nothing found/);
  assert.throws(() => parseRoute("RTNETLINK answers: Network is unreachable"), ParseError);
});

test("the RDMA device over it", () => {
  const text = recorded("rdma--link-show-rxe--6.15.0");
  assert.deepEqual(parseRdmaLink(text, "eth1"), { device: "rxe0", state: "ACTIVE" });
  assert.equal(parseRdmaLink(text, "eth0"), undefined);
  assert.equal(parseActiveMtu(recorded("ibv_devinfo--rxe--56.1")), 4096);
  assert.throws(() => parseActiveMtu("No IB devices found"), ParseError);
});

test("what the link carries, after coding", () => {
  const port = (rate: string) => ({ rate: `${rate}\n`, layer: "InfiniBand\n" });
  assert.equal(linkSpeed(port("40 Gb/sec (4X QDR)"), "")?.toFixed(0), "32000");
  assert.equal(linkSpeed(port("56 Gb/sec (4X FDR)"), "")?.toFixed(0), "54303");
  assert.equal(linkSpeed(undefined, "100000\n"), 100_000);
  // rxe invents a rate; the interface below it has the word, and a virtual one has none.
  assert.equal(linkSpeed({ rate: "2.5 Gb/sec (1X SDR)", layer: "Ethernet\n" }, "-1\n"), undefined);
  assert.equal(linkSpeed(undefined, ""), undefined);
  assert.throws(() => linkSpeed(port("fast"), ""), ParseError);
});

test("what is mounted", () => {
  const [table] = documents(recorded("fio--read-reports-after-findmnt--3.39")).documents;
  const [mount] = parseMounts(table?.value);
  assert.equal(mount?.source, "/dev/sdb");
  assert.equal(mount?.fstype, "xfs");
  assert.throws(() => parseMounts({ filesystems: [{ source: 1 }] }), ParseError);
});
