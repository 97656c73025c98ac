import * as pulumi from "@pulumi/pulumi";
import type { LabConfig } from "../config.ts";
import type { HostAddress } from "../provider/host.ts";
import { Filesystem, type Initiator, Session, type Target } from "./resources.ts";

export type Protocol = "iscsi" | "iser";
const transports = { iscsi: "tcp", iser: "iser" } as const;

/** A host at a target: one session a protocol, a file system on LUN 0. */
export class IscsiInitiator extends pulumi.ComponentResource {
  readonly sessions: Record<Protocol, Session>;
  readonly filesystem: Filesystem;

  constructor(
    name: string,
    args: {
      host: pulumi.Output<HostAddress>;
      initiator: Initiator;
      target: Target;
      portals: LabConfig["targets"][string]["portals"];
      luns: number[];
      filesystem: LabConfig["filesystem"];
    },
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("storage-lab:lab:IscsiInitiator", name, {}, options);
    const login = (protocol: Protocol): Session =>
      new Session(
        `${name}/${protocol}`,
        {
          host: args.host,
          target: args.target.iqn,
          portal: args.portals[protocol],
          transport: transports[protocol],
          luns: args.luns,
          startup: "automatic",
        },
        { parent: this, dependsOn: [args.initiator] },
      );
    this.sessions = { iscsi: login("iscsi"), iser: login("iser") };
    this.filesystem = new Filesystem(
      `${name}/${args.filesystem.type}`,
      { host: args.host, device: this.sessions.iscsi.device, type: args.filesystem.type },
      // Both paths lead to the same LUN: neither session may go while the file system is still in use.
      { parent: this, dependsOn: [this.sessions.iser] },
    );
    this.registerOutputs({});
  }
}
