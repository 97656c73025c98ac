import assert from "node:assert/strict";
import { test } from "node:test";
import {
  deviceProblem,
  normalInterfaceAddress,
  normalPortal,
  parsePortal,
  portalProblem,
} from "../../../../provider/resources/net/address.ts";

test("portals have one normal form", () => {
  const portals = {
    "10.10.10.1:3260": "10.10.10.1:3260",
    "[FD00:0:0::1]:3260": "[fd00::1]:3260",
    "[::]:3260": "[::]:3260",
    "[fe80::1%eth1]:860": "[fe80::1%eth1]:860",
    "[0:0:0:0:0:0:0:1]:65535": "[::1]:65535",
  };
  for (const [given, normal] of Object.entries(portals)) {
    assert.equal(normalPortal(given), normal);
    assert.equal(normalPortal(normal), normal);
    assert.equal(portalProblem(given), undefined);
  }
});

test("what is no portal is refused, with the form that would be one", () => {
  const wrong = [
    ..."10.10.10.1 10.10.10.1: 10.10.10.1:0 10.10.10.1:65536 010.10.10.1:3260 10.10.10:3260".split(" "),
    ..."fd00::1:3260 [10.10.10.1]:3260 [fd00::1] host:3260 [fd00::g]:1 :3260 10.10.10.1:3260,1".split(" "),
    ...["", " 10.10.10.1:3260", "10.10.10.1:3260\n", "10.10.10.1:$(id)"],
  ];
  for (const text of wrong) {
    assert.equal(parsePortal(text), undefined, text);
    assert.match(
      portalProblem(text) ?? "",
      /is no portal: a portal is an IP address with its port, such as /,
    );
  }
  assert.match(portalProblem("10.10.10.1") ?? "", /such as 10\.10\.10\.1:3260$/);
  assert.match(portalProblem("FD00::1") ?? "", /such as \[fd00::1\]:3260$/);
});

test("interface addresses carry a prefix length", () => {
  assert.equal(normalInterfaceAddress("10.10.10.1/24"), "10.10.10.1/24");
  assert.equal(normalInterfaceAddress("FD00:0::1/64"), "fd00::1/64");
  for (const text of [
    "10.10.10.1",
    "10.10.10.1/33",
    "fd00::1/129",
    "10.10.10.1/",
    "/24",
    "fe80::1%eth1/64",
    "a/24",
  ]) {
    assert.equal(normalInterfaceAddress(text), undefined, text);
  }
});

test("a device's name is one that the kernel takes", () => {
  for (const name of ["eth1", "ib0.8001", "enp59s0f0np0"]) assert.equal(deviceProblem(name), undefined);
  for (const name of ["", ".", "..", "a/b", "a b", "a:1", "sixteen-letters-", "é".repeat(8), "a\n"]) {
    assert.notEqual(deviceProblem(name), undefined, name);
  }
});
