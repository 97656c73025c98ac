import type { Folder } from "../folder.ts";
import { csv } from "../report/csv.ts";
import { html } from "../report/html.ts";
import { markdown } from "../report/markdown.ts";
import { type Recording, recording } from "../schema/recording.ts";
import type { Result } from "../schema/result.ts";

/** A benchmark's result and its reports, in its folder. */

const names = {
  html: "report.html",
  markdown: "summary.md",
  csv: "results.csv",
  json: "result.json",
} as const;

export const reportPaths = (folder: string): Result["reports"] => ({
  html: `${folder}/${names.html}`,
  markdown: `${folder}/${names.markdown}`,
  csv: `${folder}/${names.csv}`,
  json: `${folder}/${names.json}`,
});

/** The recording of each valid run, as it stands beside the result. */
export function recordingsOf(folder: Folder, { runs }: Result): Recording[] {
  return runs.flatMap((run) => {
    const text = run.valid ? folder.read(`telemetry-${run.spec.id}.json`) : undefined;
    return text === undefined ? [] : [recording.parse(JSON.parse(text))];
  });
}

/** The result last: where it is, the rest is. What an attempt that was cut off here had written is written again. */
export function writeReports(folder: Folder, found: Result): void {
  folder.replace(names.html, html(found, recordingsOf(folder, found)));
  folder.replace(names.markdown, markdown(found));
  folder.replace(names.csv, csv(found));
  folder.write(names.json, `${JSON.stringify(found, null, 2)}\n`);
}
