import { parseIbCounters, type RdmaPort } from "../parse/infiniband.ts";
import { parseInterrupts } from "../parse/interrupts.ts";
import { parseNetDev } from "../parse/net-dev.ts";
import type { HostRecording } from "../schema/recording.ts";
import { meanOf } from "../series.ts";
import { active, filesBelow, perFrame, rates, required, scaled, sum } from "./counters.ts";
import type { Frame } from "./frames.ts";
import type { Span } from "./time-line.ts";

/** Interrupts, network interfaces and RDMA ports, from the kernel's counters. */

type Spans = readonly (Span | undefined)[];

/** So many sources are kept; the others are near to silent. */
const busiest = 12;

export function interruptSeries(spans: Spans): HostRecording["interrupts"] {
  const table = perFrame(
    required(
      "/proc/interrupts",
      (text) =>
        new Map(
          parseInterrupts(text).map((source) => [`${source.name} ${source.device}`.trim(), source.counts]),
        ),
    ),
  );
  const sources = new Set(spans.flatMap((span) => (span === undefined ? [] : [...table(span.after).keys()])));
  const counts = (frame: Frame, source: string) => table(frame).get(source) ?? new Map<number, number>();
  return [...sources]
    .map((source) => {
      const total = (frame: Frame) => [...counts(frame, source).values()].reduce((a, b) => a + b, 0);
      return {
        source,
        core: mostly(spans, (frame) => counts(frame, source)),
        perSecond: rates(spans, total),
      };
    })
    .filter(({ perSecond }) => active(perSecond))
    .sort((a, b) => (meanOf(b.perSecond) ?? 0) - (meanOf(a.perSecond) ?? 0))
    .slice(0, busiest);
}

/** The core that took most of a source's interrupts. */
function mostly(spans: Spans, counts: (frame: Frame) => ReadonlyMap<number, number>): number {
  const known = spans.filter((span) => span !== undefined);
  const [first, last] = [known.at(0)?.before, known.at(-1)?.after];
  if (first === undefined || last === undefined) return 0;
  const grown = [...counts(last)].map(([core, count]): [number, number] => [
    core,
    count - (counts(first).get(core) ?? 0),
  ]);
  return grown.reduce((a, b) => (b[1] > a[1] ? b : a), [0, -1])[0];
}

export function networkSeries(spans: Spans): HostRecording["networks"] {
  const table = perFrame(required("/proc/net/dev", parseNetDev));
  const names = new Set(spans.flatMap((span) => (span === undefined ? [] : [...table(span.after).keys()])));
  return [...names]
    .map((name) => {
      const of = (side: "received" | "sent", what: "bytes" | "errors" | "dropped") =>
        rates(spans, (frame) => table(frame).get(name)?.[side][what]);
      return {
        interface: name,
        received: scaled(of("received", "bytes"), 1e-6),
        sent: scaled(of("sent", "bytes"), 1e-6),
        dropped: sum(
          ...[of("received", "dropped"), of("sent", "dropped")],
          ...[of("received", "errors"), of("sent", "errors")],
        ),
      };
    })
    .filter(({ received, sent }) => active(received, sent));
}

/** Counters of faults are read in every tenth frame: what they grew by stands at the interval that found it. */
export function rdmaSeries(frames: readonly Frame[], spans: Spans): HostRecording["rdma"] {
  const folder = "/sys/class/infiniband/";
  const named = ({ device, port }: RdmaPort): string => (port === 1 ? device : `${device}/${port}`);
  const table = perFrame(
    (frame: Frame) => new Map(parseIbCounters(filesBelow(frame, folder)).map((port) => [named(port), port])),
  );
  const names = new Set(spans.flatMap((span) => (span === undefined ? [] : [...table(span.after).keys()])));
  const whole = frames.filter(({ files }) =>
    [...files.keys()].some((path) => path.startsWith(folder) && path.includes("err")),
  );
  return [...names].map((device) => {
    const of = (what: "received" | "sent" | "receivedPackets" | "sentPackets") =>
      rates(spans, (frame) => table(frame).get(device)?.[what]);
    const errors = ({ time }: Frame) => {
      const last = whole.findLast((frame) => frame.time <= time);
      return last && table(last).get(device)?.errors;
    };
    return {
      device,
      received: scaled(of("received"), 1e-6),
      sent: scaled(of("sent"), 1e-6),
      receivedPackets: of("receivedPackets"),
      sentPackets: of("sentPackets"),
      errors: rates(spans, errors),
    };
  });
}
