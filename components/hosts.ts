import * as pulumi from "@pulumi/pulumi";
import type { LabConfig } from "../config.ts";
import type { HostAddress } from "../provider/host.ts";
import { Machine } from "./resources.ts";

/** The lab's hosts: real ones as they are, virtual ones started here. */
export class Hosts extends pulumi.ComponentResource {
  readonly addresses: Record<string, pulumi.Output<HostAddress>>;

  constructor(
    name: string,
    args: { stack: string; hosts: LabConfig["hosts"] },
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("storage-lab:lab:Hosts", name, {}, options);
    const virtual = Object.entries(args.hosts).filter(([, host]) => host.virtual);
    this.addresses = Object.fromEntries(
      Object.entries(args.hosts).map(([host, { ssh, sudo, virtual: guest }]) => {
        if (guest === undefined)
          return [host, pulumi.output({ name: host, ssh: ssh ?? host, ...(sudo && { sudo }) })];
        const position = virtual.findIndex(([other]) => other === host);
        const machine = new Machine(
          host,
          {
            host: { name: "local", ssh: "local" },
            name: host,
            folder: `.lab/${args.stack}/${host}`,
            memory: guest.memory,
            disks: guest.disks ?? [],
            link: {
              socket: `.lab/${args.stack}/link.sock`,
              listen: position === 0,
              mac: `52:54:00:00:01:${String(position + 1).padStart(2, "0")}`,
            },
          },
          { parent: this },
        );
        return [host, machine.address];
      }),
    );
    this.registerOutputs({});
  }
}
