/**
 * Why Pulumi failed, out of all that it printed: its lines with `error:`, each once, without those that only say that
 * the update failed; where it has none, the last lines. The whole is in the experiment's log.
 */
export function reasonOf(printed: string): string {
  const lines = printed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const errors = lines.flatMap((line) => {
    const [, reason] = /\berror: (.*)$/.exec(line) ?? [];
    return reason === undefined || /^(update|destroy|preview) failed$/.test(reason) ? [] : [reason];
  });
  return [...new Set(errors.length > 0 ? errors.slice(0, 10) : lines.slice(-5))].join("\n");
}
