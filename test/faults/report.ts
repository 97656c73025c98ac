/** What the provider with a fault in it tells the harness, line by line. */
export type Report =
  | { readonly planned: readonly string[] }
  | { readonly step: number; readonly seconds: number }
  | { readonly struck: true };

/** A run of Pulumi, as the provider saw it. */
export type Seen = {
  /** The sentences of all steps of all plans, in order. */
  steps: string[];
  /** How many plans they are. */
  plans: number;
  /** How long each step took, as far as it was seen. */
  seconds: Map<number, number>;
  struck: boolean;
};

export function parseReport(text: string): Seen {
  const seen: Seen = { steps: [], plans: 0, seconds: new Map(), struck: false };
  // What follows the last line feed is not written whole yet.
  for (const line of text.split("\n").slice(0, -1)) {
    const report = JSON.parse(line) as Report;
    if ("planned" in report) {
      seen.steps.push(...report.planned);
      seen.plans += 1;
    } else if ("struck" in report) seen.struck = true;
    else seen.seconds.set(report.step, report.seconds);
  }
  return seen;
}
