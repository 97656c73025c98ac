import * as pulumi from "@pulumi/pulumi";
import type { LabConfig } from "../config.ts";
import type { HostAddress } from "../provider/host.ts";
import { Backstore, Target, type Volume } from "./resources.ts";

/** A LIO target: its volumes as block backstores and LUNs, a portal for each protocol, its initiators' ACLs. */
export class IscsiTarget extends pulumi.ComponentResource {
  readonly target: Target;

  constructor(
    iqn: string,
    args: {
      host: pulumi.Output<HostAddress>;
      target: LabConfig["targets"][string];
      volumes: Record<string, Volume>;
      initiators: string[];
    },
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("storage-lab:lab:IscsiTarget", iqn, {}, options);
    const { luns, portals } = args.target;
    const backstores = luns.flatMap((lun) => {
      const volume = args.volumes[lun];
      // targetcli takes no slash in a backstore's name.
      const name = lun.replaceAll("/", "-");
      return volume
        ? [new Backstore(name, { host: args.host, name, device: volume.device }, { parent: this })]
        : [];
    });
    this.target = new Target(
      iqn,
      {
        host: args.host,
        iqn,
        portals: [
          { address: portals.iscsi, protocol: "iscsi" },
          { address: portals.iser, protocol: "iser" },
        ],
        luns: pulumi.output(backstores.map(({ name }, lun) => ({ lun, backstore: name }))),
        acls: args.initiators.map((initiator) => ({ initiator })),
      },
      { parent: this },
    );
    this.registerOutputs({ iqn: this.target.iqn });
  }
}
