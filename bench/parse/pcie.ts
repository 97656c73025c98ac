import { ParseError } from "../../provider/errors.ts";
import type { PcieLink } from "../schema/evidence.ts";

/**
 * The PCIe links of storage and network devices: what they are, of `lspci -D -vmm -nn` (lspci(8)); how wide and fast
 * their links run and could run, of sysfs (Documentation/ABI/testing/sysfs-bus-pci), /sys/bus/pci/devices/SLOT/NAME,
 * as texts by path. A device without a link, such as a paravirtual one on the root bus, is left out.
 */

export type PciDevice = {
  /** 0000:03:00.0 */
  readonly slot: string;
  /** Class number in hexadecimal, of four digits: 0107 is a SAS controller. */
  readonly class: string;
  readonly vendor: string;
  readonly device: string;
};

/** Records of `Name:<tab>Value` lines, parted by blank lines; names end with their numbers in brackets. */
export function parseLspci(text: string): PciDevice[] {
  const records = text.split(/\n\s*\n/).filter((record) => record.trim() !== "");
  return records.map((record) => {
    const fields = new Map<string, string>();
    for (const line of record.trim().split("\n")) {
      const [, name, value] = /^(\w+):\t(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) {
        throw new ParseError(`lspci: unknown line ${JSON.stringify(line)}`);
      }
      fields.set(name, value);
    }
    const of = (name: string): { text: string; number: string } => {
      const value = fields.get(name) ?? "";
      const [, words, number] = /^(.*?) ?\[([0-9a-f]{4})\]$/.exec(value) ?? [];
      if (words === undefined || number === undefined) {
        throw new ParseError(
          `lspci: no ${name} with a number in ${JSON.stringify(record.trim().slice(0, 120))}`,
        );
      }
      return { text: words === "" ? number : words, number };
    };
    const slot = fields.get("Slot") ?? "";
    if (!/^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/.test(slot)) {
      throw new ParseError(`lspci: no slot in ${JSON.stringify(record.trim().slice(0, 120))}`);
    }
    return { slot, class: of("Class").number, vendor: of("Vendor").text, device: of("Device").text };
  });
}

/** Mass storage: SCSI, RAID, SATA, SAS, NVMe; networks: Ethernet, InfiniBand's old and new class. */
const kinds: Readonly<Record<string, PcieLink["kind"]>> = {
  "0100": "hba",
  "0104": "hba",
  "0106": "hba",
  "0107": "hba",
  "0108": "nvme",
  "0180": "hba",
  "0200": "nic",
  "0207": "nic",
  "0280": "nic",
  "0c06": "nic",
};

const file = (slot: string, name: string): string => `/sys/bus/pci/devices/${slot}/${name}`;

/** The files to read of these devices. */
export const pcieFiles = (devices: readonly PciDevice[]): string[] =>
  devices
    .filter((device) => kinds[device.class] !== undefined)
    .flatMap(({ slot }) =>
      ["current_link_width", "max_link_width", "current_link_speed", "max_link_speed"].map((name) =>
        file(slot, name),
      ),
    );

/** The links of storage controllers and networks; devices of other kinds are left out. */
export function parsePcieLinks(
  devices: readonly PciDevice[],
  files: ReadonlyMap<string, string>,
): PcieLink[] {
  return devices.flatMap(({ slot, class: number, vendor, device }) => {
    const kind = kinds[number];
    if (kind === undefined) return [];
    const of = (name: string): string | undefined => files.get(file(slot, name))?.trim();
    const [width, maximumWidth] = [lanes(slot, of("current_link_width")), lanes(slot, of("max_link_width"))];
    const [speed, maximumSpeed] = [
      transfers(slot, of("current_link_speed")),
      transfers(slot, of("max_link_speed")),
    ];
    if (!width || !maximumWidth || !speed || !maximumSpeed) return [];
    return [{ device: `${vendor} ${device}`, kind, width, maximumWidth, speed, maximumSpeed }];
  });
}

/** Undefined where there is no link: no file, width 0, or 255 where the device doesn't say. */
function lanes(slot: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "" || text === "0" || text === "255") return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new ParseError(`PCIe link of ${slot}: ${JSON.stringify(text)} is no width`);
}

/** GT/s a lane: "5.0 GT/s PCIe", "8 GT/s" before Linux 5.7. */
function transfers(slot: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "" || /^Unknown/.test(text)) return undefined;
  const value = /^(\d+(?:\.\d+)?) GT\/s(?: PCIe)?$/.exec(text)?.[1];
  if (value !== undefined) return Number(value);
  throw new ParseError(`PCIe link of ${slot}: ${JSON.stringify(text)} is no speed`);
}
