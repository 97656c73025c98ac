import { execa } from "execa";
import { project, pulumiEnvironment } from "./environment.ts";

/**
 * What a killed engine was creating, changing or deleting stays in the state as "pending", and later runs warn of
 * it: of a create until somebody looks at each by hand. This project's resources need no such look: whatever was
 * begun, the next run asks the host what is there and goes on from that.
 */

type Operation = { type: string; resource: { urn: string } };
type State = { deployment?: { pending_operations?: Operation[] | null } };

/** Are these ours to begin again? */
const ours = ({ type, resource }: Operation): boolean =>
  ["creating", "updating", "deleting"].includes(type) &&
  /::(.*\$)?(storagelab:|command:local:Command::)/.test(resource.urn);

/** The state without what will be gone on with anyway, or undefined where there is nothing of it. */
export function withoutOurs(state: State): State | undefined {
  const pending = state.deployment?.pending_operations ?? [];
  const rest = pending.filter((operation) => !ours(operation));
  if (rest.length === pending.length) return undefined;
  return { ...state, deployment: { ...state.deployment, pending_operations: rest } };
}

/** Forget the interrupted operations of a stack whose engine is gone. */
export async function forgetPending(stack: string): Promise<void> {
  const options = { cwd: project, env: pulumiEnvironment() };
  const { stdout } = await execa("pulumi", ["stack", "export", "--stack", stack], options);
  const state = withoutOurs(JSON.parse(stdout) as State);
  if (state === undefined) return;
  await execa("pulumi", ["stack", "import", "--stack", stack], { ...options, input: JSON.stringify(state) });
}
