import { ParseError } from "../../provider/errors.ts";

/**
 * Counters of RDMA ports in sysfs, /sys/class/infiniband/DEVICE/ports/PORT/{counters,hw_counters}/NAME, as texts by
 * path (provider/files.ts reads them in one go). See the kernel's Documentation/ABI/stable/sysfs-class-infiniband:
 * port_rcv_data and port_xmit_data count words of four bytes. hw_counters are the driver's own; soft-RoCE (rxe) has
 * those only, and counts packets but no bytes.
 */

export type RdmaPort = {
  readonly device: string;
  readonly port: number;
  /** Bytes and packets since the last reset; null where the port doesn't count them. */
  readonly received: number | null;
  readonly sent: number | null;
  readonly receivedPackets: number | null;
  readonly sentPackets: number | null;
  /** Errors, drops and retries of all kinds together. */
  readonly errors: number;
  /** All counters by the sysfs name, as they stand there. */
  readonly counters: ReadonlyMap<string, number>;
};

const path = /^\/sys\/class\/infiniband\/([^/]+)\/ports\/(\d+)\/(?:hw_)?counters\/(\w+)$/;
/** Of hw_counters: how long a reading is kept, in ms. No counter. */
const settings = ["lifespan"];
/** What the kernel writes where the device has no counter of that name. */
const absent = "N/A (no PMA)";

/** Counters of faults: of every port, of rxe (drivers/infiniband/sw/rxe/rxe_hw_counters.c), of mlx4 and mlx5. */
const faults = new Set([
  ...["symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors", "port_xmit_discards"],
  ...["port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors", "port_rcv_constraint_errors"],
  ...["port_xmit_constraint_errors", "local_link_integrity_errors", "excessive_buffer_overrun_errors"],
  ...["VL15_dropped", "duplicate_request", "out_of_seq_request", "rcvd_rnr_err", "send_rnr_err"],
  ...["rcvd_seq_err", "retry_exceeded_err", "retry_rnr_exceeded_err", "completer_retry_err", "send_err"],
  ...["out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err", "out_of_buffer"],
  ...["implied_nak_seq_err", "rx_icrc_encapsulated", "req_cqe_error", "resp_cqe_error", "roce_slow_restart"],
]);

/** One for each port that has counters, in the order of the files. */
export function parseIbCounters(files: ReadonlyMap<string, string>): RdmaPort[] {
  const ports = new Map<string, { device: string; port: number; counters: Map<string, number> }>();
  for (const [file, text] of files) {
    const [, device, port, name] = path.exec(file) ?? [];
    if (device === undefined || port === undefined || name === undefined) {
      throw new ParseError(`InfiniBand counters: unknown file ${JSON.stringify(file)}`);
    }
    const key = `${device}/${port}`;
    const found = ports.get(key) ?? { device, port: Number(port), counters: new Map<string, number>() };
    ports.set(key, found);
    const value = text.trim();
    if (settings.includes(name) || value === absent) continue;
    if (!/^\d+$/.test(value)) {
      throw new ParseError(`InfiniBand counters: ${file}: ${JSON.stringify(value)} is no count`);
    }
    found.counters.set(name, Number(value));
  }
  return [...ports.values()].map(({ device, port, counters }) => {
    const words = (name: string): number | null => {
      const value = counters.get(name);
      return value === undefined ? null : value * 4;
    };
    return {
      device,
      port,
      received: words("port_rcv_data"),
      sent: words("port_xmit_data"),
      receivedPackets: counters.get("port_rcv_packets") ?? counters.get("rcvd_pkts") ?? null,
      sentPackets: counters.get("port_xmit_packets") ?? counters.get("sent_pkts") ?? null,
      errors: [...counters].reduce((sum, [name, value]) => sum + (faults.has(name) ? value : 0), 0),
      counters,
    };
  });
}
