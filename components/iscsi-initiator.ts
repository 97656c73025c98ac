import * as pulumi from "@pulumi/pulumi";
import type { LabConfig } from "../config.ts";
import type { HostAddress } from "../provider/host.ts";
import type { ChapInputs } from "../provider/resources/iscsi/chap.ts";
import { Filesystem, type Initiator, Session, type Target } from "./resources.ts";

export type Protocol = "iscsi" | "iser";
const transports = { iscsi: "tcp", iser: "iser" } as const;

/** A host at a target: one session a protocol, and a file system on LUN 0 where there is to be one. */
export class IscsiInitiator extends pulumi.ComponentResource {
  readonly sessions: Record<Protocol, Session>;
  readonly filesystem: Filesystem | undefined;

  constructor(
    name: string,
    args: {
      host: pulumi.Output<HostAddress>;
      initiator: Initiator;
      target: Target;
      portals: LabConfig["targets"][string]["portals"];
      luns: number[];
      /** What each LUN's disk has to show, so that it grows with its volume. */
      sizes: string[] | undefined;
      chap: ChapInputs | undefined;
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
          ...(args.sizes && { sizes: args.sizes }),
          startup: "automatic",
          ...(args.chap && { chap: pulumi.secret(args.chap) }),
        },
        { parent: this, dependsOn: [args.initiator] },
      );
    this.sessions = { iscsi: login("iscsi"), iser: login("iser") };
    const { filesystem } = args;
    const { label, uuid } = filesystem ?? {};
    const size = args.sizes?.[0];
    this.filesystem =
      filesystem &&
      new Filesystem(
        `${name}/${filesystem.type}`,
        {
          host: args.host,
          device: this.sessions.iscsi.device,
          type: filesystem.type,
          ...(label !== undefined && { label }),
          ...(uuid !== undefined && { uuid }),
          ...(size !== undefined && { size }),
        },
        // Both paths lead to the same LUN: neither session may go while the file system is still in use.
        { parent: this, dependsOn: [this.sessions.iser] },
      );
    this.registerOutputs({});
  }
}
