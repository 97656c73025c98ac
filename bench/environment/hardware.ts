import { ParseError } from "../../provider/errors.ts";
import type { PcieLink } from "../schema/evidence.ts";
import type { HostState } from "../schema/result.ts";

/**
 * What sysfs tells of a host's hardware without any program: frequency governors (cpufreq), temperatures (hwmon),
 * PCIe links (Documentation/ABI/testing/sysfs-bus-pci). One script reads it all; guests have little of it.
 */

/** Files that can't be read (a sensor without a reading, a device without a link) are left out. */
const script = `
for f in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor \\
  /sys/class/hwmon/hwmon*/name /sys/class/hwmon/hwmon*/temp*_input /sys/class/hwmon/hwmon*/temp*_label \\
  /sys/bus/pci/devices/*/class /sys/bus/pci/devices/*/vendor /sys/bus/pci/devices/*/device \\
  /sys/bus/pci/devices/*/current_link_width /sys/bus/pci/devices/*/max_link_width \\
  /sys/bus/pci/devices/*/current_link_speed /sys/bus/pci/devices/*/max_link_speed
do
  [ -r "$f" ] && { read -r v <"$f"; } 2>/dev/null && printf '%s:%s\\n' "$f" "$v"
done
exit 0`;
export const hardwareFiles = ["sh", "-c", script];

/** Names of PCI devices, where the host has lspci(8) (package pciutils): machine-readable, with domain. */
export const pciNames = ["lspci", "-Dmm"];

export type Hardware = Pick<HostState, "governor" | "temperatures" | "pcie">;

export function parseHardware(text: string, names: ReadonlyMap<string, string>): Hardware {
  const governors = new Set<string>();
  const sensors = new Map<string, Map<string, string>>();
  const devices = new Map<string, Map<string, string>>();
  for (const line of text.split("\n").filter((l) => l !== "")) {
    const [, governor] =
      /^\/sys\/devices\/system\/cpu\/cpu\d+\/cpufreq\/scaling_governor:(\w+)$/.exec(line) ?? [];
    const [, kind, owner, file, value] =
      /^\/sys\/(class\/hwmon|bus\/pci\/devices)\/([^/]+)\/(\w+):(.*)$/.exec(line) ?? [];
    if (governor !== undefined) governors.add(governor);
    else if (owner === undefined || file === undefined) {
      throw new ParseError(`sysfs: unknown line ${JSON.stringify(line)}`);
    } else {
      const table = kind === "class/hwmon" ? sensors : devices;
      const row = table.get(owner) ?? new Map<string, string>();
      table.set(owner, row.set(file, value ?? ""));
    }
  }
  return {
    governor: governors.size === 0 ? null : [...governors].sort().join(", "),
    temperatures: [...sensors].flatMap(([chip, files]) => temperatures(chip, files)),
    pcie: [...devices].flatMap(([address, files]) => pcieLink(names.get(address), files)),
  };
}

/** hwmon counts in thousandths of a degree; a label is there for some sensors. */
function temperatures(chip: string, files: ReadonlyMap<string, string>): HostState["temperatures"] {
  return [...files].flatMap(([file, value]) => {
    const sensor = /^(temp\d+)_input$/.exec(file)?.[1];
    if (sensor === undefined) return [];
    if (!/^-?\d+$/.test(value)) throw new ParseError(`hwmon: ${chip}/${file} is ${JSON.stringify(value)}`);
    const label = files.get(`${sensor}_label`) ?? sensor;
    return [{ sensor: `${files.get("name") ?? chip} ${label}`, celsius: Number(value) / 1000 }];
  });
}

/** PCI classes (include/linux/pci_ids.h): mass storage is 01, of it 08 NVMe; network is 02; 0c06 is InfiniBand. */
function kindOf(pciClass: string): PcieLink["kind"] | undefined {
  if (/^0x0108/.test(pciClass)) return "nvme";
  if (/^0x01/.test(pciClass)) return "hba";
  if (/^0x(02|0c06)/.test(pciClass)) return "nic";
  return undefined;
}

/** The link of a storage or network device; nothing of others, nor where the device has no PCIe link. */
function pcieLink(name: string | undefined, files: ReadonlyMap<string, string>): PcieLink[] {
  const kind = kindOf(files.get("class") ?? "");
  const [width, maximumWidth] = ["current_link_width", "max_link_width"].map((f) => lanes(f, files.get(f)));
  const [speed, maximumSpeed] = ["current_link_speed", "max_link_speed"].map((f) =>
    gigatransfers(f, files.get(f)),
  );
  // Width 255 and speed "Unknown" are sysfs's words for a device that doesn't say.
  if (kind === undefined || !width || !maximumWidth || !speed || !maximumSpeed || width > 64) return [];
  const ids = `${files.get("vendor") ?? ""}:${files.get("device") ?? ""}`.replaceAll("0x", "");
  return [{ device: name ?? `PCI ${ids}`, kind, width, maximumWidth, speed, maximumSpeed }];
}

function lanes(file: string, text = "0"): number {
  if (!/^\d+$/.test(text)) throw new ParseError(`sysfs: ${file} is ${JSON.stringify(text)}, no number`);
  return Number(text);
}

/** "8.0 GT/s PCIe", before Linux 5.7 "8 GT/s"; "Unknown" or "Unknown speed". */
function gigatransfers(file: string, text = "Unknown"): number {
  const [, rate, unknown] = /^(?:(\d+(?:\.\d+)?) GT\/s(?: PCIe)?|(Unknown(?: speed)?))$/.exec(text) ?? [];
  if (rate === undefined && unknown === undefined) {
    throw new ParseError(`sysfs: ${file} is ${JSON.stringify(text)}, no rate in GT/s`);
  }
  return Number(rate ?? 0);
}

/** `lspci -Dmm`: slot, then class, vendor and device in quotes, as `0000:00:02.0 "Ethernet controller" "Intel" "82574L" …`. */
export function parsePciNames(text: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const line of text.split("\n").filter((l) => l !== "")) {
    const [, slot, vendor, device] = /^(\S+) "(?:[^"]*)" "([^"]*)" "([^"]*)"/.exec(line) ?? [];
    if (slot === undefined) throw new ParseError(`lspci -Dmm: unknown line ${JSON.stringify(line)}`);
    names.set(slot, `${vendor} ${device}`);
  }
  return names;
}
