/** What `pulumi up` and `pulumi destroy` print, without a terminal. */

/**
 * What of it says something new to whoever watches: what is done to which resource. Left out: dots, states without
 * words, and what comes at the end once more or stands in the result (Diagnostics, Outputs, Resources).
 */
export function watching(): (line: string) => string | undefined {
  let isOver = false;
  return (line) => {
    if (/^(Updating|Destroying) \(/.test(line)) isOver = false;
    else if (/^(Diagnostics|Outputs|Resources):\s*$/.test(line)) isOver = true;
    if (isOver || /^\s*(@ |$)/.test(line)) return undefined;
    const [, name, failed, words] = resource.exec(line) ?? [];
    if (name === undefined) return line.trim();
    const text = words?.trim() ?? "";
    if (failed !== undefined) return `${name}: failed: ${text}`;
    return text === "" ? undefined : `${name}: ${text}`;
  };
}

/** " +  storagelab:zfs:Pool tank creating (3s) create pool tank", or "**creating failed**" in place of the state. */
const resource =
  /^\s*[^\s\w]+\s+[\w-]+:[\w-]+:\w+ (\S+) (?:(\*\*\w+ failed\*\*)|\w+)(?: \([\d.]+m?s\))?(?: (.*))?$/;

/**
 * Why it failed: its lines with `error:`, each once, without those that only say that all of it failed; of a program
 * that it ran, the last lines of that one, too. Where nothing says `error:`, the last lines of all.
 */
export function reasonOf(printed: string): string {
  const lines = printed.split("\n");
  const reasons = new Map<string, string[]>();
  for (const [n, line] of lines.entries()) {
    const [, before = "", reason = ""] = /^(.*?)\berror: (.*)$/.exec(line) ?? [];
    if (reason === "" || /^(update|destroy|preview) failed$/.test(reason)) continue;
    const its = before.trim() === "" ? beneath(lines.slice(n + 1), before.length) : [];
    reasons.set(reason, [...(reasons.get(reason) ?? []), ...its.slice(-3)]);
  }
  if (reasons.size === 0)
    return lines
      .map((line) => line.trim())
      .filter(Boolean)
      .slice(-5)
      .join("\n");
  return [...reasons]
    .slice(0, 10)
    .flatMap(([reason, its]) => [reason, ...its])
    .join("\n");
}

/** The lines that are further in than the one above them. */
function beneath(lines: readonly string[], indent: number): string[] {
  const end = lines.findIndex((line) => line.trim() === "" || line.search(/\S/) <= indent);
  return (end === -1 ? lines : lines.slice(0, end)).map((line) => line.trim());
}
