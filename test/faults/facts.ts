/** What facts.sh says of a guest, as lines that are the same for the same state. Pure. */
export function factLines(text: string): string[] {
  const lines: string[] = [];
  const saved: string[] = [];
  let section = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("== ")) section = line.slice(3);
    else if (section === "saved") saved.push(line);
    else {
      const fact = comparable[section]?.(line) ?? line.trim();
      if (fact !== "") lines.push(`${section}: ${fact}`);
    }
  }
  const config = saved.join("\n").trim();
  if (config !== "") lines.push(...leaves("", JSON.parse(config)).map((leaf) => `saved: ${leaf}`));
  return [...new Set(lines)].sort();
}

/** What of a line does not differ from run to run. */
const comparable: Record<string, (line: string) => string> = {
  // NAME STATE and three counters; the rest is prose, and how long a scrub or resilver took.
  vdev: (line) =>
    /^\t(\s*\S+\s+[A-Z]+)(\s+\d+){3}/.exec(line)?.[1]?.trim().replace(/\s+/g, " ") ?? stripe(line),
  // rtslib numbers the backstores anew when it restores them at boot.
  lio: (line) => line.trim().replace(/iblock_\d+/g, "iblock"),
  session: (line) => line.replace(/^.*\/session\d+\//, ""),
  left: (line) => line.replace(/^\d+ /, "process "),
  eth1: (line) => (line.startsWith("mtu") ? line : (/ inet6? (\S+)/.exec(line)?.[1] ?? "")),
  mount: (line) => line.split(" ").slice(0, 3).join(" "),
};

/** Headings of classes of vdevs, and what has no counters (cache, spares). */
const stripe = (line: string): string =>
  /^\t(logs|cache|spares|special|dedup)\s*$/.exec(line)?.[1] ??
  /^\t\s+(\S+\s+(AVAIL|INUSE))/.exec(line)?.[1]?.replace(/\s+/g, " ") ??
  "";

/** The leaves of saveconfig.json; objects of a list go by their names, since the order says nothing. */
function leaves(path: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => leaves(`${path}[${nameOf(item)}]`, item));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([key, inner]) =>
      key.startsWith("alua") || key.endsWith("password") ? [] : leaves(`${path}.${key}`, inner),
    );
  return [`${path} = ${value}`];
}

function nameOf(item: unknown): string {
  const named = item as Record<string, unknown>;
  const key = ["name", "wwn", "node_wwn", "index", "port", "tag"].find((one) => named[one] !== undefined);
  return key === undefined ? "" : `${named[key]}`;
}
