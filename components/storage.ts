import * as pulumi from "@pulumi/pulumi";
import type { LabConfig } from "../config.ts";
import type { HostAddress } from "../provider/host.ts";
import { Clone, Dataset, Pool, Snapshot, Volume } from "./resources.ts";
import { poolInputs, volumeHints } from "./zfs-inputs.ts";

type Thing = Pool | Dataset | Volume | Snapshot | Clone;

/** A pool and what is in it: each thing stands on what it lies below, or begins as. */
export class Storage extends pulumi.ComponentResource {
  /** The volumes, and the clones of volumes, by full name: `tank/lun0`. */
  readonly volumes: Record<string, Volume | Clone> = {};

  constructor(
    name: string,
    args: { host: pulumi.Output<HostAddress>; lab: LabConfig; pool: LabConfig["pools"][string] },
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("storage-lab:lab:Storage", name, {}, options);
    const { host, lab } = args;
    const below = { parent: this };
    const inputs = { host, ...poolInputs(name, args.pool) };
    const pool = new Pool(name, inputs, below);
    const things = new Map<string, Thing>([[name, pool]]);

    /** The thing of this full name, made when it is first asked for. */
    const thing = (full: string): Thing => {
      const there = things.get(full);
      if (there !== undefined) return there;
      const made = make(full);
      things.set(full, made);
      return made;
    };
    const make = (full: string): Thing => {
      const [of = "", label] = full.split("@");
      if (label !== undefined) {
        const fields = lab.snapshots[full];
        if (fields === undefined) throw new Error(`no snapshot ${full}`);
        // Where it is recursive, what is declared below is there first; clones may stand on this very snapshot.
        const lower = plain.filter((other) => fields.recursive && other.startsWith(`${of}/`)).map(thing);
        const at = pulumi.interpolate`${thing(of).name}@${label}`;
        return new Snapshot(full, { host, ...fields, name: at }, { ...below, dependsOn: lower });
      }
      const cut = full.lastIndexOf("/");
      const at = pulumi.interpolate`${thing(full.slice(0, cut)).name}/${full.slice(cut + 1)}`;
      const [dataset, volume, clone] = [lab.datasets[full], lab.volumes[full], lab.clones[full]];
      if (dataset) return new Dataset(full, { host, ...secretKey(dataset), name: at }, below);
      if (volume) {
        const made = new Volume(full, { host, ...secretKey(volume), name: at }, below);
        // Of a pool that is there the provider says it.
        const hints = pulumi.runtime.isDryRun() ? volumeHints(args.pool, volume) : [];
        isKnown(pool.guid).apply((there) => {
          if (!there) for (const hint of hints) pulumi.log.info(`${full}: ${hint}`, made);
        });
        this.volumes[full] = made;
        return made;
      }
      if (clone === undefined) throw new Error(`no dataset ${full}`);
      // A snapshot that the stack file does not declare is there, taken by somebody else.
      const snapshot = clone.snapshot in lab.snapshots ? thing(clone.snapshot).name : clone.snapshot;
      this.volumes[full] = new Clone(full, { host, ...clone, name: at, snapshot }, below);
      return this.volumes[full];
    };
    const mine = (declared: object): string[] =>
      Object.keys(declared).filter((full) => full.split(/[/@]/)[0] === name);
    const plain = [...mine(lab.datasets), ...mine(lab.volumes)];
    for (const full of [...plain, ...mine(lab.clones), ...mine(lab.snapshots)]) thing(full);
    this.registerOutputs({});
  }
}

const secretKey = <T extends { key?: string | undefined }>(fields: T) =>
  fields.key === undefined ? fields : { ...fields, key: pulumi.secret(fields.key) };

/** Whether a preview knows this output: what Pulumi keeps beside the value, and has no public name for. */
const isKnown = (output: pulumi.Output<unknown>): pulumi.Output<boolean> =>
  pulumi.output((output as unknown as { isKnown: Promise<boolean> }).isKnown);
