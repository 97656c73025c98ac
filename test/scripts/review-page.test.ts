import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlanNote } from "../../provider/plan-note.ts";
import { page, rowsOf, statusOf } from "../../scripts/review-page.ts";

const urn = (type: string, name: string) =>
  `urn:pulumi:lab::storage-lab::storage-lab:lab:Storage$${type}::${name}`;
const volume = urn("storagelab:zfs:Volume", "tank/lun0");
const pool = urn("storagelab:zfs:Pool", "tank");

const note = (more: Partial<PlanNote>): PlanNote => ({
  urn: volume,
  object: "storage: Volume tank/lun0",
  host: "storage",
  does: "update",
  values: [],
  steps: [],
  hints: [],
  ...more,
});

const component = { urn: "urn:pulumi:lab::storage-lab::storage-lab:lab:Storage::tank", op: "create" };

test("nothing would change", () => {
  const operations = [component, { urn: volume, op: "same" }, { urn: pool, op: "same" }];
  const review = { stack: "lab", operations, notes: [], warnings: [] };
  assert.equal(page(review), "# Review of stack lab\n\nNothing would change, 2 stay.");
  assert.equal(statusOf(rowsOf(review)), 0);
});

test("a change has both values, the worst class of its steps, its commands in order", () => {
  const notes = [
    note({
      values: [{ path: "size", before: "2 GiB", after: "3 GiB" }],
      steps: [{ say: "grow it", line: "zfs set volsize=3221225472 tank/lun0" }],
      hints: ["16 KiB blocks would waste less."],
    }),
    note({
      urn: pool,
      object: "storage: Pool tank",
      steps: [
        { say: "note it", line: "write /x" },
        { say: "add it", line: "zpool add tank special /dev/sda", effect: "cannot be undone" },
        { say: "restart", line: "reboot", effect: "outage" },
      ],
    }),
  ];
  const operations = [
    { urn: pool, op: "update" },
    { urn: volume, op: "update" },
  ];
  const review = { stack: "lab", operations, notes, warnings: ["initiator did not answer"] };
  assert.equal(
    page(review),
    `# Review of stack lab

2 would change (at worst: cannot be undone), 0 stay.

## Changes

| object | change | values | class |
|---|---|---|---|
| storage: Pool tank | update |  | **cannot be undone** |
| storage: Volume tank/lun0 | update | size: \`2 GiB\` → \`3 GiB\` | online |

## To know before

- storage: Volume tank/lun0: 16 KiB blocks would waste less.
- initiator did not answer

## Commands on storage

\`\`\`sh
# storage: Pool tank: update
write /x
zpool add tank special /dev/sda
reboot

# storage: Volume tank/lun0: update
zfs set volsize=3221225472 tank/lun0
\`\`\``,
  );
  assert.equal(statusOf(rowsOf(review)), 2);
});

test("what is refused has its reason, and a status of its own; a replace is one row", () => {
  const refused =
    "storage: Volume tank/lun0 can't be replaced (volblocksize: 16 KiB → 32 KiB). Replacing loses data.";
  const operations = [
    { urn: volume, op: "delete-replaced" },
    { urn: volume, op: "replace" },
    { urn: volume, op: "create-replacement" },
  ];
  const review = { stack: "lab", operations, notes: [note({ does: "replace", refused })], warnings: [] };
  assert.match(page(review), /^Nothing would change, 1 refused, 0 stay\.$/m);
  assert.match(
    page(review),
    /^- \*\*storage: Volume tank\/lun0\*\* \(replace\): can't be replaced \(volblocksize/m,
  );
  assert.equal(statusOf(rowsOf(review)), 3);
});

test("a replace has its delete's commands, then its successor's", () => {
  const first = note({
    does: "replace",
    values: [{ path: "volblocksize", before: "16 KiB", after: "32 KiB" }],
    steps: [{ say: "destroy it", line: "zfs destroy tank/lun0", effect: "data loss" }],
  });
  const second = note({ does: "create", steps: [{ say: "make it", line: "zfs create tank/lun0" }] });
  const [row, ...more] = rowsOf({
    operations: [{ urn: volume, op: "replace" }],
    notes: [first, second],
  });
  assert.deepEqual(more, []);
  assert.deepEqual([row?.does, row?.class, row?.values], ["replace", "data loss", first.values]);
  assert.deepEqual(
    row?.note?.steps.map(({ line }) => line),
    ["zfs destroy tank/lun0", "zfs create tank/lun0"],
  );
});

test("a table's cells and a fence hold whatever an operator has named", () => {
  const values = [{ path: "comment", before: "a|b", after: "`x`" }];
  const steps = [{ say: "x", line: "echo '```'" }];
  const text = page({
    stack: "lab",
    operations: [{ urn: volume, op: "update" }],
    notes: [note({ values, steps })],
    warnings: [],
  });
  assert.match(text, /comment: `a\\\|b` → `'x'`/);
  assert.match(text, /^````sh$/m);
});

test("what nothing is known of is said to be so; the benchmark is online", () => {
  const command = "urn:pulumi:lab::storage-lab::storage-lab:lab:Benchmark$command:local:Command::benchmark";
  const operations = [
    { urn: command, op: "replace" },
    { urn: pool, op: "delete" },
  ];
  assert.deepEqual(
    rowsOf({ operations, notes: [] }).map(({ object, class: what }) => [object, what]),
    [
      ["command:local:Command benchmark", "online"],
      ["storagelab:zfs:Pool tank", "not known"],
    ],
  );
});
