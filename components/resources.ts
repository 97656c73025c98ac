import * as pulumi from "@pulumi/pulumi";
import type { HostAddress } from "../provider/host.ts";
import type { FilesystemInputs } from "../provider/resources/fs/filesystem.ts";
import type { InitiatorInputs } from "../provider/resources/iscsi/initiator.ts";
import type { SessionInputs } from "../provider/resources/iscsi/session.ts";
import type { BackstoreInputs } from "../provider/resources/lio/backstore.ts";
import type { RamdiskInputs } from "../provider/resources/lio/ramdisk.ts";
import type { TargetInputs } from "../provider/resources/lio/target.ts";
import type { InterfaceInputs } from "../provider/resources/net/interface.ts";
import type { RdmaLinkInputs } from "../provider/resources/net/rdma-link.ts";
import type { MachineInputs } from "../provider/resources/vm/machine.ts";
import type { CloneInputs } from "../provider/resources/zfs/clone.ts";
import type { DatasetInputs } from "../provider/resources/zfs/dataset.ts";
import type { PoolInputs } from "../provider/resources/zfs/pool.ts";
import type { SnapshotInputs } from "../provider/resources/zfs/snapshot.ts";
import type { VolumeInputs } from "../provider/resources/zfs/volume.ts";

/** The provider's resources as Pulumi classes; inputs' types are the provider's own, so they can't drift apart. */

type Args<I> = { [K in keyof I]: pulumi.Input<I[K]> };

/** A class for one of our types; `outputs` are the properties that the provider adds to the inputs. */
class Resource<I> extends pulumi.CustomResource {
  constructor(
    type: string,
    name: string,
    args: Args<I>,
    outputs: string[],
    options: pulumi.CustomResourceOptions,
  ) {
    const unknown = Object.fromEntries(outputs.map((output) => [output, undefined]));
    // `pulumi import` makes a resource without a parent; the next up takes it for the component's own.
    const aliases = [...(options.aliases ?? []), { parent: pulumi.rootStackResource }];
    super(`storagelab:${type}`, name, { ...args, ...unknown }, { ...options, aliases });
  }
}

export class Machine extends Resource<MachineInputs> {
  declare readonly address: pulumi.Output<HostAddress>;
  constructor(name: string, args: Args<MachineInputs>, options: pulumi.CustomResourceOptions) {
    super("vm:Machine", name, args, ["address"], options);
  }
}

export class Pool extends Resource<PoolInputs> {
  declare readonly name: pulumi.Output<string>;
  /** Known once the pool is there. */
  declare readonly guid: pulumi.Output<string | undefined>;
  constructor(name: string, args: Args<PoolInputs>, options: pulumi.CustomResourceOptions) {
    super("zfs:Pool", name, args, ["guid", "size", "health"], options);
  }
}

export class Volume extends Resource<VolumeInputs> {
  declare readonly name: pulumi.Output<string>;
  /** /dev/zvol/POOL/NAME */
  declare readonly device: pulumi.Output<string>;
  constructor(name: string, args: Args<VolumeInputs>, options: pulumi.CustomResourceOptions) {
    super("zfs:Volume", name, args, ["device", "guid"], options);
  }
}

export class Dataset extends Resource<DatasetInputs> {
  declare readonly name: pulumi.Output<string>;
  declare readonly mountpoint: pulumi.Output<string>;
  constructor(name: string, args: Args<DatasetInputs>, options: pulumi.CustomResourceOptions) {
    super("zfs:Dataset", name, args, ["guid", "mountpoint"], options);
  }
}

export class Snapshot extends Resource<SnapshotInputs> {
  /** What a clone of it names. */
  declare readonly name: pulumi.Output<string>;
  constructor(name: string, args: Args<SnapshotInputs>, options: pulumi.CustomResourceOptions) {
    super("zfs:Snapshot", name, args, ["guid", "created"], options);
  }
}

export class Clone extends Resource<CloneInputs> {
  declare readonly name: pulumi.Output<string>;
  /** /dev/zvol/POOL/NAME of a clone of a volume. */
  declare readonly device: pulumi.Output<string | undefined>;
  constructor(name: string, args: Args<CloneInputs>, options: pulumi.CustomResourceOptions) {
    super("zfs:Clone", name, args, ["device", "guid"], options);
  }
}

export class Backstore extends Resource<BackstoreInputs> {
  declare readonly name: pulumi.Output<string>;
  constructor(name: string, args: Args<BackstoreInputs>, options: pulumi.CustomResourceOptions) {
    super("lio:Backstore", name, args, [], options);
  }
}

export class Ramdisk extends Resource<RamdiskInputs> {
  declare readonly name: pulumi.Output<string>;
  /** Known once it is there. */
  declare readonly serial: pulumi.Output<string>;
  constructor(name: string, args: Args<RamdiskInputs>, options: pulumi.CustomResourceOptions) {
    super("lio:Ramdisk", name, args, ["serial"], options);
  }
}

export class Target extends Resource<TargetInputs> {
  declare readonly iqn: pulumi.Output<string>;
  declare readonly portals: pulumi.Output<TargetInputs["portals"]>;
  constructor(name: string, args: Args<TargetInputs>, options: pulumi.CustomResourceOptions) {
    super("lio:Target", name, args, [], options);
  }
}

export class Interface extends Resource<InterfaceInputs> {
  declare readonly device: pulumi.Output<string>;
  constructor(name: string, args: Args<InterfaceInputs>, options: pulumi.CustomResourceOptions) {
    super("net:Interface", name, args, [], options);
  }
}

export class RdmaLink extends Resource<RdmaLinkInputs> {
  constructor(name: string, args: Args<RdmaLinkInputs>, options: pulumi.CustomResourceOptions) {
    super("net:RdmaLink", name, args, ["activeMtu"], options);
  }
}

export class Initiator extends Resource<InitiatorInputs> {
  declare readonly name: pulumi.Output<string>;
  constructor(name: string, args: Args<InitiatorInputs>, options: pulumi.CustomResourceOptions) {
    super("iscsi:Initiator", name, args, [], options);
  }
}

export class Session extends Resource<SessionInputs> {
  /** The stable path of LUN 0: /dev/disk/by-path/ip-…-lun-0 */
  declare readonly device: pulumi.Output<string>;
  /** The stable path of each of its LUNs, by number. */
  declare readonly devices: pulumi.Output<Record<string, string>>;
  declare readonly portal: pulumi.Output<string>;
  constructor(name: string, args: Args<SessionInputs>, options: pulumi.CustomResourceOptions) {
    super("iscsi:Session", name, args, ["device", "devices"], options);
  }
}

export class Filesystem extends Resource<FilesystemInputs> {
  declare readonly uuid: pulumi.Output<string>;
  constructor(name: string, args: Args<FilesystemInputs>, options: pulumi.CustomResourceOptions) {
    super("fs:Filesystem", name, args, ["uuid"], options);
  }
}
