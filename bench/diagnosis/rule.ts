import type { Advice, Element, ElementName, Finding } from "../schema/diagnosis.ts";
import type { Evidence, HostLoad } from "../schema/evidence.ts";
import type { Needs } from "../schema/needs.ts";
import type { Direction } from "../schema/words.ts";

/** What a rule is: one cause, looked for in one run's evidence. One file in bench/diagnosis/rules is one rule. */

/** The stack file's names of what was measured, for keys in advice; NAME stands where one isn't known. */
export type Names = {
  readonly pool: string;
  readonly volume: string;
  readonly target: string;
  readonly fabric: string;
};

/** Those of what was measured first: a key in advice is one of the stack file then. */
export const namesOf = ({
  pools,
  volumes,
  targets,
}: {
  readonly pools: readonly { readonly name: string }[];
  readonly volumes: readonly { readonly name: string }[];
  readonly targets: readonly { readonly iqn: string }[];
}): Partial<Names> => ({
  ...(pools[0] && { pool: pools[0].name }),
  ...(volumes[0] && { volume: volumes[0].name }),
  ...(targets[0] && { target: targets[0].iqn }),
});

/** One run as rules look at it. */
export type Situation = {
  readonly evidence: Evidence;
  readonly direction: Direction;
  /** The path with each element's use (bench/model/path.ts). */
  readonly elements: readonly Element[];
  readonly names: Names;
  /** What the application needs; undefined: not stated. */
  readonly needs: Needs | undefined;
};

/** A finding, and how near to its capacity the thing is: what is nearest limits. */
export type Found = Omit<Finding, "rule"> & {
  /** Percent of the capacity. */
  readonly share: number;
};

export type Rule = {
  /** As its file. */
  readonly name: string;
  /**
   * first: about the run itself, before anything that the path does. element: something on the path that is full;
   * the fullest comes first. last: asked when nothing on the path is known to be full; it limits only then.
   */
  readonly rank: "first" | "element" | "last";
  /** Nothing where the evidence doesn't say, or says that it isn't so. `full`: an element is known to be full. */
  readonly find: (situation: Situation, full: boolean) => Found[];
  /** Its advice is given also where something else limits: it is a fault by itself. Default: false. */
  readonly fault?: true;
  /** What to do when this limits. In any order; bench/diagnosis/advice.ts puts it into the method's. */
  readonly advise: (situation: Situation, finding: Finding) => Advice[];
};

export const elementNamed = ({ elements }: Situation, name: ElementName): Element | undefined =>
  elements.find(({ element }) => element === name);

/** A use above this share of the capacity, measured, needs no inference to be called full. */
const PLAINLY_FULL = 95;

/** By how direct the evidence is: a measured share that leaves no room, a measured one that does, an assumed capacity. */
export const confidenceOf = (share: number, from: Element["from"] = "measured"): Finding["confidence"] =>
  from === "assumed" || from === "unknown" ? "low" : share >= PLAINLY_FULL ? "high" : "medium";

export type Side = "client" | "storage";
export const sides: readonly Side[] = ["client", "storage"];
export const hostOf = ({ evidence }: Situation, side: Side): HostLoad => evidence[side];

/** The side that receives the payload: its network receive path does the work. */
export const receives = (direction: Direction, side: Side): boolean =>
  direction === "mixed" || (direction === "write") === (side === "storage");

/** What was in flight at once, over all jobs and clients. */
export const outstanding = ({ depth, jobs, clients }: Evidence): number => depth * jobs * clients;

/** fio's jobs over all clients. With a flush after each write every one has a single write under way. */
export const writers = ({ jobs, clients }: Evidence): number => jobs * clients;
/** ms of one write with its flush, as a job sees it. */
export const writeTime = (evidence: Evidence, iops: number): number => (writers(evidence) / iops) * 1000;
