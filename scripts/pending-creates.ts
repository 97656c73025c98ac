import { execa } from "execa";
import { project, pulumiEnvironment } from "./environment.ts";

/**
 * What a killed engine was creating stays in the state as "pending", and every later run warns of it until somebody
 * looks at each by hand. This project's resources need no such look: a create finds what an earlier one began and
 * goes on from there.
 */

type Operation = { type: string; resource: { urn: string } };
type State = { deployment?: { pending_operations?: Operation[] | null } };

/** Are these ours to begin again? */
const ours = ({ type, resource }: Operation): boolean =>
  type === "creating" && /::(.*\$)?(storagelab:|command:local:Command::)/.test(resource.urn);

/** The state without creates that will be begun again, or undefined where there are none. */
export function withoutOurCreates(state: State): State | undefined {
  const pending = state.deployment?.pending_operations ?? [];
  const rest = pending.filter((operation) => !ours(operation));
  if (rest.length === pending.length) return undefined;
  return { ...state, deployment: { ...state.deployment, pending_operations: rest } };
}

/** Forget the interrupted creates of a stack whose engine is gone. */
export async function forgetPendingCreates(stack: string): Promise<void> {
  const options = { cwd: project, env: pulumiEnvironment() };
  const { stdout } = await execa("pulumi", ["stack", "export", "--stack", stack], options);
  const state = withoutOurCreates(JSON.parse(stdout) as State);
  if (state === undefined) return;
  await execa("pulumi", ["stack", "import", "--stack", stack], { ...options, input: JSON.stringify(state) });
}
