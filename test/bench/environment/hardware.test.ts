import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHardware, parsePciNames } from "../../../bench/environment/hardware.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded } from "../../recorded.ts";

const pci = (address: string, values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => `/sys/bus/pci/devices/${address}/${name}:${value}\n`)
    .join("");
const link = (width: string, widest: string, speed: string, fastest: string) => ({
  ...{
    current_link_width: width,
    max_link_width: widest,
    current_link_speed: speed,
    max_link_speed: fastest,
  },
});

test("a guest of emulated devices has no link, no sensor, no governor", () => {
  const names = parsePciNames(recorded("lspci--machine-readable-guest--3.13.0"));
  assert.ok(names.size > 5);
  assert.deepEqual(parseHardware(recorded("sysfs--hardware-of-a-guest--linux-6.12"), names), {
    ...{ governor: null, temperatures: [], pcie: [] },
  });
});

test("HBA, NVMe and NIC with their links, by lspci's names; other devices are left out", () => {
  const hba = {
    class: "0x010700",
    vendor: "0x1000",
    device: "0x0072",
    ...link("8", "8", "5.0 GT/s PCIe", "5.0 GT/s PCIe"),
  };
  const nvme = {
    class: "0x010802",
    vendor: "0x8086",
    device: "0x0953",
    ...link("4", "4", "8 GT/s", "8 GT/s"),
  };
  const nic = {
    class: "0x020700",
    vendor: "0x15b3",
    device: "0x673c",
    ...link("4", "8", "5.0 GT/s PCIe", "5.0 GT/s PCIe"),
  };
  const bridge = { class: "0x060400", ...link("8", "8", "5.0 GT/s PCIe", "5.0 GT/s PCIe") };
  const without = { class: "0x010000", ...link("255", "255", "Unknown", "Unknown") };
  const text = [hba, nvme, nic, bridge, without].map((one, n) => pci(`0000:0${n}:00.0`, one)).join("");
  const names = new Map([["0000:00:00.0", "LSI SAS2008"]]);
  assert.deepEqual(parseHardware(text, names).pcie, [
    { device: "LSI SAS2008", kind: "hba", width: 8, maximumWidth: 8, speed: 5, maximumSpeed: 5 },
    { device: "PCI 8086:0953", kind: "nvme", width: 4, maximumWidth: 4, speed: 8, maximumSpeed: 8 },
    { device: "PCI 15b3:673c", kind: "nic", width: 4, maximumWidth: 8, speed: 5, maximumSpeed: 5 },
  ]);
});

test("temperatures by their labels, governors that differ side by side", () => {
  const text = [
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor:powersave",
    "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor:performance",
    "/sys/class/hwmon/hwmon0/name:coretemp",
    "/sys/class/hwmon/hwmon0/temp1_input:41500",
    "/sys/class/hwmon/hwmon0/temp1_label:Package id 0",
    "/sys/class/hwmon/hwmon1/name:nvme",
    "/sys/class/hwmon/hwmon1/temp1_input:-2000",
  ];
  assert.deepEqual(parseHardware(text.join("\n"), new Map()), {
    governor: "performance, powersave",
    temperatures: [
      { sensor: "coretemp Package id 0", celsius: 41.5 },
      { sensor: "nvme temp1", celsius: -2 },
    ],
    pcie: [],
  });
});

test("unknown lines are errors that quote them", () => {
  assert.throws(() => parseHardware("nonsense\n", new Map()), ParseError);
  assert.throws(
    () => parseHardware("/sys/class/hwmon/hwmon0/temp1_input:warm\n", new Map()),
    /temp1_input is "warm"/,
  );
  assert.throws(() => parsePciNames("00:00.0 Host bridge\n"), /unknown line "00:00.0 Host bridge"/);
});

test("a width or a rate of an unknown form is an error that quotes it", () => {
  const of = (file: string, value: string): string =>
    ["class:0x010700", "current_link_width:8", "max_link_width:8", "current_link_speed:5.0 GT/s PCIe"]
      .concat("max_link_speed:5.0 GT/s PCIe")
      .filter((line) => !line.startsWith(file))
      .concat(`${file}:${value}`)
      .map((line) => `/sys/bus/pci/devices/0000:03:00.0/${line}\n`)
      .join("");
  const parse = (text: string) => () => parseHardware(text, new Map());
  assert.throws(parse(of("max_link_width", "x8")), /max_link_width is "x8", no number/);
  assert.throws(parse(of("current_link_speed", "fast")), /current_link_speed is "fast", no rate in GT\/s/);
  assert.deepEqual(parse(of("current_link_speed", "Unknown"))().pcie, []);
});
