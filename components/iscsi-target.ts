import * as pulumi from "@pulumi/pulumi";
import type { LabConfig } from "../config.ts";
import type { HostAddress } from "../provider/host.ts";
import { backstoreName, chapOf, ramdiskLun, ramdiskName } from "./iscsi-inputs.ts";
import { Backstore, type Clone, Ramdisk, Target, type Volume } from "./resources.ts";

/**
 * A LIO target: its volumes as block backstores and LUNs, a RAM disk beside them where one is declared, a portal for
 * each protocol, its initiators' ACLs.
 */
export class IscsiTarget extends pulumi.ComponentResource {
  readonly target: Target;
  readonly ramdisk: Ramdisk | undefined;

  constructor(
    iqn: string,
    args: {
      host: pulumi.Output<HostAddress>;
      target: LabConfig["targets"][string];
      volumes: Record<string, Volume | Clone>;
      initiators: string[];
    },
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("storage-lab:lab:IscsiTarget", iqn, {}, options);
    const { luns, portals, ramdisk: size } = args.target;
    const chap = chapOf(args.target);
    const backstores = luns.flatMap((lun) => {
      const volume = args.volumes[lun];
      const name = backstoreName(lun);
      if (volume === undefined) return [];
      const device = pulumi.output(volume.device).apply((path) => {
        // Only its origin tells what a clone is, and that may not be in the stack file.
        if (path === undefined) throw new pulumi.RunError(`${lun} is a file system; a LUN is a volume`);
        return path;
      });
      return [new Backstore(name, { host: args.host, name, device }, { parent: this })];
    });
    // Its name is no output here: a RAM disk that is made anew must not take the target and its sessions with it.
    const name = ramdiskName(args.target);
    this.ramdisk =
      size === undefined ? undefined : new Ramdisk(name, { host: args.host, name, size }, { parent: this });
    this.target = new Target(
      iqn,
      {
        host: args.host,
        iqn,
        portals: [
          { address: portals.iscsi, protocol: "iscsi" },
          { address: portals.iser, protocol: "iser" },
        ],
        luns: pulumi.output([
          ...backstores.map(({ name }, lun) => ({ lun, backstore: name })),
          ...(this.ramdisk ? [{ lun: ramdiskLun, backstore: name, ramdisk: true }] : []),
        ]),
        acls: args.initiators.map((initiator) => ({ initiator })),
        ...(chap && { chap: pulumi.secret(chap) }),
        ...(args.target.dropSessions !== undefined && { dropSessions: args.target.dropSessions }),
      },
      { parent: this, ...(this.ramdisk && { dependsOn: [this.ramdisk] }) },
    );
    this.registerOutputs({ iqn: this.target.iqn });
  }
}
