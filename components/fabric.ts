import * as pulumi from "@pulumi/pulumi";
import type { LabConfig } from "../config.ts";
import type { HostAddress } from "../provider/host.ts";
import { Interface, RdmaLink } from "./resources.ts";

/** One network between the lab's hosts: its interfaces with addresses and MTU, and RDMA over them. */
export class Fabric extends pulumi.ComponentResource {
  constructor(
    name: string,
    args: { link: LabConfig["fabric"][string]; addresses: Record<string, pulumi.Output<HostAddress>> },
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("storage-lab:lab:Fabric", name, {}, options);
    const { kind, device, mode, mtu, addresses } = args.link;
    for (const [hostName, address] of Object.entries(addresses)) {
      const host = args.addresses[hostName];
      if (host === undefined) continue;
      const networkInterface = new Interface(
        `${name}-${hostName}`,
        {
          host,
          device: typeof device === "string" ? device : (device[hostName] ?? ""),
          addresses: [address],
          ...(mtu !== undefined && { mtu }),
          ...(mode !== undefined && { mode }),
        },
        { parent: this },
      );
      const rdma = kind === "rxe" ? { name: "rxe0", kind } : { name: `${name}0`, kind };
      new RdmaLink(
        `${name}-${hostName}-rdma`,
        { host, ...rdma, device: networkInterface.device },
        { parent: this },
      );
    }
    this.registerOutputs({});
  }
}
