import type { Phased, PhaseLive } from "../phased.ts";
import type { Bench, BenchClient } from "../run/bench.ts";
import type { PathState } from "../schema/result.ts";
import type { Io500Test, RunSpec } from "../schema/test.ts";

/** Kind `io500`: the io500 program where the client has it, else phases of its shape. */

export type Io500Spec = RunSpec & { readonly test: Io500Test };

/** As runFiles: writes below the client's mount point, removes what it wrote, gives phases and the score. */
export async function runIo500(
  _bench: Bench,
  which: BenchClient,
  _path: PathState,
  _spec: Io500Spec,
  _live: PhaseLive,
): Promise<Phased> {
  throw new Error(`${which.host.name}: kind io500 is not measured yet`);
}
