/**
 * Says what a long step is doing and for how long: one live line on a terminal, elsewhere a line at the start,
 * one every 15 seconds, and one at the end.
 */
export type Progress = {
  /** What it is doing now, in our words. */
  note(text: string): void;
  /** The last line that a program printed in doing it. */
  detail(line: string): void;
  end(text: string): void;
};

export type Output = { write(text: string): unknown; isTTY?: boolean; columns?: number };

export function startProgress(name: string, what: string, output: Output = process.stdout): Progress {
  const start = performance.now();
  const seconds = () => Math.round((performance.now() - start) / 1000);
  let doing = "";
  let line = "";
  const latest = () => [doing, line].filter(Boolean).join(": ") || what;
  const live = () => {
    const whole = `  … ${name} ${duration(seconds())}  ${latest()}`;
    output.write(`\r\x1b[K${whole.slice(0, (output.columns ?? 80) - 1)}`);
  };
  if (output.isTTY) live();
  else output.write(`  … ${name}: ${what}\n`);
  const timer = output.isTTY
    ? setInterval(live, 500)
    : setInterval(() => output.write(`  … ${name} ${duration(seconds())}  ${latest()}\n`), 15_000);
  return {
    note(text) {
      doing = text;
      line = "";
    },
    detail(text) {
      // A program's colours and other controls would break the line.
      line = text.replaceAll(/[^\x20-\x7e]+/g, " ").trim();
    },
    end(text) {
      clearInterval(timer);
      output.write(`${output.isTTY ? "\r\x1b[K" : ""}  ${text} (${duration(seconds())})\n`);
    },
  };
}

export function duration(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
