import assert from "node:assert/strict";
import { test } from "node:test";
import { iqnProblem } from "../../../../provider/resources/lio/iqn.ts";

test("names that RFC 7143 and rtslib take", () => {
  for (const name of [
    "iqn.2026-09.com.example.lab:tank",
    "iqn.2026-09.com.example",
    "iqn.2003-01.org.linux-iscsi.host.x8664:sn.0123456789ab",
    "iqn.1993-08.org.debian:01:6b5d8f9c1a",
    "iqn.2026-09.com.example:a:b.c-d",
    "eui.02004567a425678d",
    "naa.52004567ba64678d",
  ]) {
    assert.equal(iqnProblem(name), undefined);
  }
});

test("names that one of them refuses, each with its rule", () => {
  const wrong: [name: string, rule: RegExp][] = [
    ["", /write it as iqn\./],
    ["tank", /write it as iqn\./],
    ["iqn.2026-13.com.example:x", /13 is no month/],
    ["iqn.2026-00.com.example:x", /00 is no month/],
    ["iqn.26-09.com.example:x", /write it as/],
    ["iqn.2026-09.lab:x", /its domain lab needs two labels/],
    ["iqn.2026-09.lab:x.y", /its domain lab needs two labels/],
    ["iqn.2026-09.:x", /is no reversed domain name/],
    ["iqn.2026-09.com..example:x", /is no reversed domain name/],
    ["iqn.2026-09.com.-example:x", /is no reversed domain name/],
    ["iqn.2026-09.com.example:Tank", /lower case: iqn\.2026-09\.com\.example:tank$/],
    ["iqn.2026-09.com.example:my_host", /holds "_"/],
    ["iqn.2026-09.com.example:a b", /holds " "/],
    ["iqn.2026-09.com.example:a/../b", /holds "\/"/],
    ["iqn.2026-09.com.example:$(reboot)", /holds "\$"/],
    ["iqn.2026-09.com.example:tänk", /holds "ä"/],
    ["iqn.2026-09.com.example:x\n", /holds "\\n"/],
    [`iqn.2026-09.com.example:${"x".repeat(200)}`, /has 224 characters, at most 223/],
    ["eui.02004567A425678D", /lower case/],
    ["eui.0200", /write it as/],
  ];
  for (const [name, rule] of wrong) assert.match(iqnProblem(name) ?? "", rule, name);
});
