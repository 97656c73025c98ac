import { createHash } from "node:crypto";
import { local } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import type { Request } from "../bench/schema/request.ts";
import type { Outcome } from "../bench/schema/result.ts";

/**
 * Measures the lab when it stands, and again when what is measured changes: `settings` is everything of the stack
 * file that a figure depends on.
 */
export class Benchmark extends pulumi.ComponentResource {
  readonly results: pulumi.Output<Outcome>;

  constructor(
    name: string,
    args: { request: pulumi.Input<Request>; settings: unknown },
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("storage-lab:lab:Benchmark", name, {}, options);
    const fingerprint = createHash("sha256").update(JSON.stringify(args.settings)).digest("hex").slice(0, 12);
    const command = new local.Command(
      name,
      {
        create: "exec node_modules/.bin/node bench/main.ts run",
        stdin: pulumi.jsonStringify(args.request),
        triggers: [fingerprint],
        logging: local.Logging.Stderr,
      },
      { parent: this },
    );
    this.results = command.stdout.apply((text) => JSON.parse(text) as Outcome);
    this.registerOutputs({ results: this.results });
  }
}
