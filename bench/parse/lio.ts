import { ParseError } from "../../provider/errors.ts";

/**
 * LIO's own counters, in configfs below /sys/kernel/config/target, as texts by path (provider/files.ts reads them in
 * one go): of a backstore, of a LUN in a TPG, and of an initiator's session by its ACL. Megabytes are of 2^20 bytes
 * and whole (drivers/target/target_core_stat.c shifts bytes by 20); a session's octets are exact, but iSER moves its
 * data past them.
 */

export type LioStatistics = {
  /** By backstore as configfs has it: iblock_0/lun0. */
  readonly backstores: ReadonlyMap<string, LioCounters>;
  readonly luns: readonly ({
    readonly target: string;
    readonly tpg: number;
    readonly lun: number;
  } & LioCounters)[];
  readonly sessions: readonly {
    readonly target: string;
    readonly tpg: number;
    readonly initiator: string;
    /** By configfs's names: cmd_pdus, txdata_octs (to the initiator), rxdata_octs, … */
    readonly counters: ReadonlyMap<string, number>;
  }[];
};
export type LioCounters = {
  readonly commands: number;
  /** Bytes, to the whole 2^20; read is what initiators read. */
  readonly read: number;
  readonly written: number;
};

/** The names to read below /sys/kernel/config/target, and no others. */
export const lioCounters = {
  backstore: ["num_cmds", "read_mbytes", "write_mbytes"],
  lun: ["in_cmds", "read_mbytes", "write_mbytes"],
  session: [
    "cmd_pdus",
    "rsp_pdus",
    "txdata_octs",
    "rxdata_octs",
    "conn_timeout_errors",
    "conn_digest_errors",
  ],
} as const;

const root = "/sys/kernel/config/target";
const backstorePath = new RegExp(`^${root}/core/(\\w+/[^/]+)/statistics/scsi_lu/(\\w+)$`);
const lunPath = new RegExp(
  `^${root}/iscsi/([^/]+)/tpgt_(\\d+)/lun/lun_(\\d+)/statistics/scsi_tgt_port/(\\w+)$`,
);
const sessionPath = new RegExp(
  `^${root}/iscsi/([^/]+)/tpgt_(\\d+)/acls/([^/]+)/fabric_statistics/iscsi_sess_stats/(\\w+)$`,
);

export function parseLioStatistics(files: ReadonlyMap<string, string>): LioStatistics {
  const backstores = new Map<string, Map<string, number>>();
  const luns = new Map<string, { target: string; tpg: number; lun: number; counters: Map<string, number> }>();
  const sessions = new Map<
    string,
    { target: string; tpg: number; initiator: string; counters: Map<string, number> }
  >();
  for (const [file, text] of files) {
    const [, backstore, ofBackstore = ""] = backstorePath.exec(file) ?? [];
    const [, lunTarget, lunTpg, lun, ofLun = ""] = lunPath.exec(file) ?? [];
    const [, target, tpg, initiator, ofSession = ""] = sessionPath.exec(file) ?? [];
    if (backstore !== undefined && isOne(lioCounters.backstore, ofBackstore)) {
      const counters = backstores.get(backstore) ?? new Map<string, number>();
      backstores.set(backstore, counters.set(ofBackstore, count(file, text)));
    } else if (lunTarget !== undefined && isOne(lioCounters.lun, ofLun)) {
      const key = `${lunTarget}/${lunTpg}/${lun}`;
      const found = luns.get(key) ?? {
        target: lunTarget,
        tpg: Number(lunTpg),
        lun: Number(lun),
        counters: new Map<string, number>(),
      };
      luns.set(key, found);
      found.counters.set(ofLun, count(file, text));
    } else if (target !== undefined && initiator !== undefined && isOne(lioCounters.session, ofSession)) {
      const key = `${target}/${tpg}/${initiator}`;
      const found = sessions.get(key) ?? {
        target,
        tpg: Number(tpg),
        initiator,
        counters: new Map<string, number>(),
      };
      sessions.set(key, found);
      found.counters.set(ofSession, count(file, text));
    } else {
      throw new ParseError(`LIO statistics: unknown file ${JSON.stringify(file)}`);
    }
  }
  return {
    backstores: new Map([...backstores].map(([name, c]) => [name, counters(name, c, "num_cmds")])),
    luns: [...luns.entries()].map(([name, { target, tpg, lun, counters: c }]) => ({
      ...{ target, tpg, lun },
      ...counters(name, c, "in_cmds"),
    })),
    sessions: [...sessions.values()],
  };
}

const isOne = (names: readonly string[], name: string): boolean => names.includes(name);

function count(file: string, text: string): number {
  const value = text.trim();
  if (/^\d+$/.test(value)) return Number(value);
  throw new ParseError(`LIO statistics: ${file}: ${JSON.stringify(value)} is no count`);
}

function counters(what: string, found: ReadonlyMap<string, number>, commands: string): LioCounters {
  const of = (name: string): number => {
    const value = found.get(name);
    if (value === undefined) throw new ParseError(`LIO statistics: ${what} has no ${name}`);
    return value;
  };
  return { commands: of(commands), read: of("read_mbytes") * 2 ** 20, written: of("write_mbytes") * 2 ** 20 };
}
