import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { markdownTable } from "../../../bench/table.ts";
import { checkedRows, off, type Row } from "./recordings.ts";

/** Writes the table of docs/model.md, between its marks, from the recordings: node test/bench/model/checked-table.ts */

const file = join(import.meta.dirname, "../../../docs/model.md");
const [begin, end] = ["<!-- checked -->", "<!-- /checked -->"];

const percent = (row: Row | undefined): string => (row === undefined ? "" : `${off(row).toFixed(1)} %`);
const times = (value: number): string => value.toFixed(2);

export function checkedMarkdown(rows: readonly Row[]): string {
  const layouts = [...new Set(rows.map(({ layout }) => layout))];
  const space = layouts.flatMap((layout) => {
    const find = (what: Row["what"]) => rows.find((row) => row.layout === layout && row.what === what);
    const usable = find("usable");
    if (usable === undefined) return [];
    const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(3);
    return [
      [
        layout,
        ...[gib(usable.model), gib(usable.found), percent(find("size")), percent(usable)],
        percent(find("reservation")),
      ],
    ];
  });
  const writes = rows
    .filter(({ what }) => what === "data writes" || what === "log writes")
    .map((row) => {
      const { layout, volblocksize, logbias, sync, what, model, most, found } = row;
      const written = rows.find(
        (one) =>
          one.layout === layout && one.volblocksize === volblocksize && one.what === "written" && !sync,
      );
      const load = sync ? `synchronous, logbias=${logbias}` : "sequential";
      const expected = times(model) === times(most) ? times(model) : `${times(model)} to ${times(most)}`;
      return [
        ...[layout, `${(volblocksize ?? 0) / 1024} KiB`, load, what === "log writes" ? "log" : "data"],
        ...[expected, times(found), percent(written)],
      ];
    });
  return [
    markdownTable({
      head: [
        ...["layout", "usable GiB, model", "found", "off: `zpool list`", "off: usable", "off: reservation"],
      ],
      rows: space,
    }),
    markdownTable({
      head: [
        ...["layout", "volblocksize", "writes", "disks", "bytes on disks a byte, model", "found"],
        "off: space of written blocks",
      ],
      rows: writes,
    }),
  ].join("\n\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = readFileSync(file, "utf8");
  const [before, after] = [text.indexOf(begin), text.indexOf(end)];
  if (before < 0 || after < before) throw new Error(`${file}: ${begin} and ${end} are not in it`);
  const table = checkedMarkdown(checkedRows());
  writeFileSync(file, `${text.slice(0, before + begin.length)}\n\n${table}\n\n${text.slice(after)}`);
}
