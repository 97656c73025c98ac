/**
 * The four ways in which work on a host fails. Each message names the thing, the rule and both values,
 * and what to do next; it does not repeat its cause. `explain` prints the chain once, at the edge.
 */

/** The host could not be reached, or the connection broke before the answer was whole. Never "absent". */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly host: string;
  /** The host is there and takes no login yet, as one does that is just starting. */
  readonly starting: boolean;
  constructor(host: string, message: string, options: ErrorOptions & { starting?: boolean } = {}) {
    super(message, options);
    this.host = host;
    this.starting = options.starting ?? false;
  }
}

/** A program on a host ended with a status that its caller did not expect. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly host: string;
  readonly status: number;
  constructor(host: string, status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.host = host;
    this.status = status;
  }
}

/** A program's output was not of the form that its parser knows. Quotes the line. */
export class ParseError extends Error {
  override readonly name = "ParseError";
}

/** Asked for something that a rule of this project forbids; nothing was touched. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** An error and its causes, one a line, each said once. */
export function explain(error: unknown): string {
  const lines: string[] = [];
  for (let e: unknown = error; e !== undefined; e = e instanceof Error ? e.cause : undefined) {
    const line = e instanceof Error ? e.message : String(e);
    if (!lines.includes(line)) lines.push(line);
  }
  return lines.join("\n  because: ");
}
