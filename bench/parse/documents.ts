/**
 * Finds the JSON documents in what a program printed. fio writes notes and errors before, between and after
 * its documents, even into its output file, and prints one document at each `--status-interval`.
 * fio also prints floats as `nan` and `inf`, which JSON does not know: they are read as null.
 */

export type Documents = {
  /** Each document as it was printed, and its value. */
  readonly documents: readonly {
    readonly text: string;
    readonly value: unknown;
    readonly notNumbers: number;
  }[];
  /** The lines that belong to no document. */
  readonly outside: readonly string[];
};

/** Documents begin with a brace at the start of a line and end where their braces balance. Total: never throws. */
export function documents(output: string): Documents {
  const found: { text: string; value: unknown; notNumbers: number }[] = [];
  const outside: string[] = [];
  let at = 0;
  while (at < output.length) {
    const end = output[at] === "{" ? closing(output, at) : undefined;
    const parsed = end === undefined ? undefined : parse(output.slice(at, end));
    if (end !== undefined && parsed !== undefined) {
      found.push(parsed);
      at = end;
      if (output[at] === "\n") at += 1;
      continue;
    }
    const newline = output.indexOf("\n", at);
    const next = newline === -1 ? output.length : newline + 1;
    const line = output.slice(at, next).trim();
    if (line !== "") outside.push(line);
    at = next;
  }
  return { documents: found, outside };
}

/** Where the document that begins at `start` ends; undefined when it is cut off. */
function closing(text: string, start: number): number | undefined {
  let depth = 0;
  for (const match of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (match[0] === "{") depth += 1;
    else if (match[0] === "}") depth -= 1;
    if (depth === 0) return start + match.index + 1;
  }
  return undefined;
}

function parse(text: string) {
  let notNumbers = 0;
  const json = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\b(?:nan|inf(?:inity)?)\b(?:\(\w+\))?/gis, (token) => {
    if (token.startsWith('"')) return token;
    notNumbers += 1;
    return "null";
  });
  try {
    return { text, value: JSON.parse(json) as unknown, notNumbers };
  } catch {
    return undefined;
  }
}
