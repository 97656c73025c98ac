import type { AnyType } from "./context.ts";
import { filesystem } from "./resources/fs/filesystem.ts";
import { initiator } from "./resources/iscsi/initiator.ts";
import { session } from "./resources/iscsi/session.ts";
import { backstore } from "./resources/lio/backstore.ts";
import { ramdisk } from "./resources/lio/ramdisk.ts";
import { target } from "./resources/lio/target.ts";
import { networkInterface } from "./resources/net/interface.ts";
import { rdmaLink } from "./resources/net/rdma-link.ts";
import { machine } from "./resources/vm/machine.ts";
import { clone } from "./resources/zfs/clone.ts";
import { dataset } from "./resources/zfs/dataset.ts";
import { pool } from "./resources/zfs/pool.ts";
import { snapshot } from "./resources/zfs/snapshot.ts";
import { volume } from "./resources/zfs/volume.ts";

/** Every resource type there is. A new type is one file and one line here. */
export const types: readonly AnyType[] = [
  machine,
  pool,
  dataset,
  volume,
  snapshot,
  clone,
  backstore,
  ramdisk,
  target,
  networkInterface,
  rdmaLink,
  initiator,
  session,
  filesystem,
];

/** The type of a Pulumi token (`storagelab:zfs:Volume`); undefined for one that is not ours. */
export const typeOf = (token: string): AnyType | undefined =>
  types.find((type) => `storagelab:${type.type}` === token);
