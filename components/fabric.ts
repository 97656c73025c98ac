import * as pulumi from "@pulumi/pulumi";
import type { LabConfig } from "../config.ts";
import type { HostAddress } from "../provider/host.ts";
import { nameOn } from "../stack-file/words.ts";
import { Interface, RdmaLink } from "./resources.ts";

/** One network between the lab's hosts: its interfaces with addresses and MTU, and RDMA over them. */
export class Fabric extends pulumi.ComponentResource {
  constructor(
    name: string,
    args: { link: LabConfig["fabric"][string]; addresses: Record<string, pulumi.Output<HostAddress>> },
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("storage-lab:lab:Fabric", name, {}, options);
    const { kind, device, rdma, mode, mtu, addresses } = args.link;
    for (const [hostName, address] of Object.entries(addresses)) {
      const host = args.addresses[hostName];
      if (host === undefined) continue;
      const networkInterface = new Interface(
        `${name}-${hostName}`,
        {
          host,
          device: nameOn(device, hostName) ?? "",
          addresses: [address],
          ...(mtu !== undefined && { mtu }),
          ...(mode !== undefined && { mode }),
        },
        { parent: this },
      );
      const link = { name: nameOn(rdma, hostName) ?? "rxe0", kind, device: networkInterface.device };
      new RdmaLink(`${name}-${hostName}-rdma`, { host, ...link }, { parent: this });
    }
    this.registerOutputs({});
  }
}
