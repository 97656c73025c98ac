import { ParseError } from "../../provider/errors.ts";

/** What collector.sh prints, frame by frame: its head comment has the form. */

export type Frame = {
  /** Seconds since 1970, by the host's clock. */
  readonly time: number;
  /** What stood in a file, by path. Without one that couldn't be read. */
  readonly files: ReadonlyMap<string, string>;
  /** What a program printed since the frame before, by its name. */
  readonly printed: ReadonlyMap<string, string>;
};

const mark = "\u0001";

/** Takes the stream line by line, a frame each; hands over what programs printed and then the frame. */
export function frameReader(
  onFrame: (frame: Frame) => void,
  onLine: (program: string, line: string) => void = () => {},
): (line: string) => void {
  let frame: { time: number; files: Map<string, string>; printed: Map<string, string> } | undefined;
  let lines: string[] = [];
  let finish = () => {};
  const into = (texts: Map<string, string>, name: string, each?: (line: string) => void): void => {
    lines = [];
    const own = lines;
    finish = () => texts.set(name, own.map((line) => `${line}\n`).join(""));
    eachLine = each;
  };
  let eachLine: ((line: string) => void) | undefined;
  return (whole) => {
    for (const line of whole.split("\v")) part(line);
  };
  function part(line: string): void {
    if (!line.startsWith(mark)) {
      if (frame === undefined) throw unknown(line, "outside of a frame");
      lines.push(line);
      eachLine?.(line);
      return;
    }
    const [kind, rest] = [line.slice(1, 3), line.slice(3)];
    if (kind === "@ ") {
      if (!/^\d+\.\d{6}$/.test(rest)) throw unknown(line, "seconds expected");
      frame = { time: Number(rest), files: new Map(), printed: new Map() };
      [lines, finish, eachLine] = [[], () => {}, undefined];
      return;
    }
    if (frame === undefined) throw unknown(line, "outside of a frame");
    finish();
    if (kind === "< ") into(frame.files, rest);
    else if (kind === "| ") into(frame.printed, rest, (text) => onLine(rest, text));
    else if (kind === ".") {
      onFrame(frame);
      frame = undefined;
    } else throw unknown(line, "not one of @ < | .");
  }
}

const unknown = (line: string, why: string): ParseError =>
  new ParseError(`the collector's stream: unknown line ${JSON.stringify(line.slice(0, 120))} (${why})`);
