import * as pulumi from "@pulumi/pulumi";
import { type LabConfig, poolVdevs } from "../config.ts";
import type { HostAddress } from "../provider/host.ts";
import { Pool, Volume } from "./resources.ts";

/** A pool and its volumes. */
export class Storage extends pulumi.ComponentResource {
  /** By full name: `tank/lun0`. */
  readonly volumes: Record<string, Volume> = {};

  constructor(
    name: string,
    args: {
      host: pulumi.Output<HostAddress>;
      pool: LabConfig["pools"][string];
      volumes: LabConfig["volumes"];
    },
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("storage-lab:lab:Storage", name, {}, options);
    const { ashift, properties, filesystemProperties, wipe, onDelete } = args.pool;
    const pool = new Pool(
      name,
      {
        host: args.host,
        name,
        vdevs: poolVdevs(args.pool),
        ashift,
        ...(properties && { properties }),
        ...(filesystemProperties && { filesystemProperties }),
        ...(wipe && { wipe }),
        onDelete,
      },
      { parent: this },
    );
    for (const [volumeName, { ...volume }] of Object.entries(args.volumes)) {
      const inPool = pulumi.interpolate`${pool.name}/${volumeName.slice(name.length + 1)}`;
      this.volumes[volumeName] = new Volume(
        volumeName,
        { host: args.host, ...volume, name: inPool },
        { parent: this },
      );
    }
    this.registerOutputs({});
  }
}
