/** The edge of each program: an error's message and its causes, once, without a stack; returns the exit status. */
export function explain(error: unknown): number {
  const lines: string[] = [];
  for (let at = error; at !== undefined; at = at instanceof Error ? at.cause : undefined) {
    const message = at instanceof Error ? at.message : String(at);
    // A message that already quotes its cause says it once.
    if (!lines.some((line) => line.includes(message))) lines.push(message);
  }
  console.error(lines.join("\n  because: "));
  return 1;
}
