// What the program asked of the kernel: by call, by place, by file; and its waits of 1 ms and more.

import { useMemo, useState } from "preact/hooks";
import { useLooking } from "../context";
import { litStacks } from "../data/lit";
import { type Column, Grid } from "../shared/grid";
import { useNarrow } from "../shared/narrow";
import { show } from "../shared/outside";
import { Segments } from "../shared/segments";
import { bytes, count, counted, moment, time } from "../shared/units";
import { type By, type Sum, sums } from "./sums";

type Shown = By | "waits";

export function SyscallsView() {
  const { recording, selection, lit, go } = useLooking();
  const [by, setBy] = useState<Shown>("place");
  const narrow = useNarrow();
  const stacks = useMemo(() => (lit ? litStacks(recording, lit) : null), [recording, lit]);
  const rows = useMemo(
    () => (by === "waits" ? [] : sums(recording, selection.scope, by, stacks)),
    [recording, selection, by, stacks],
  );
  const isLit = (row: Sum) => row.lit || (lit !== null && by === "file" && lit.files.has(row.file));
  const most = rows.reduce((high, row) => Math.max(high, row.duration), 1);
  const name = (row: Sum) => show(recording.head.calls[row.call]!);
  const place = (row: Sum) =>
    row.own < 0
      ? "[unknown call site]"
      : [recording.name(row.own), recording.place(row.own)].filter(Boolean).join(" · ");
  const both = (row: Sum) => `${name(row)} · ${place(row)}`;
  const what: Column<Sum>[] =
    by === "call"
      ? [{ name: "call", words: true, code: true, value: name, text: name }]
      : by === "place"
        ? narrow
          ? [{ name: "call, place", wide: 4, words: true, code: true, value: both, text: both }]
          : [
              { name: "call", words: true, code: true, value: name, text: name },
              { name: "place", wide: 4, words: true, code: true, value: place, text: place },
            ]
        : [
            {
              name: "file",
              words: true,
              code: true,
              value: (row) => show(row.key),
              text: (row) => show(row.key) || "[no file]",
            },
          ];
  const columns: Column<Sum>[] = [
    {
      name: "time",
      title: "Time from entry to return",
      value: (row) => row.duration,
      text: (row) => time(row.duration),
      bar: (row) => row.duration / most,
    },
    {
      name: "asleep",
      title: "Part of the time spent sleeping",
      value: (row) => row.blocked,
      text: (row) => (row.blocked > 0 ? time(row.blocked) : ""),
    },
    { name: "calls", value: (row) => row.count, text: (row) => count(row.count) },
    { name: "failed", value: (row) => row.errors, text: (row) => (row.errors > 0 ? count(row.errors) : "") },
    { name: "bytes", value: (row) => row.bytes, text: (row) => (row.bytes > 0 ? bytes(row.bytes) : "") },
    ...what,
  ];
  const traced = recording.syscalls.time.length > 0;
  const total = rows.reduce((sum, row) => sum + row.count, 0);
  return (
    <section class="syscalls" aria-label="System calls">
      <div class="bar">
        <Segments
          label="By"
          value={by}
          options={[
            ["place", "By call site", "by system call and the program's function that makes it"],
            ["call", "By call", ""],
            ["file", "By file", "by file or address"],
            ["waits", "Waits", "waits of 1 ms and more"],
          ]}
          choose={(value) => setBy(value as Shown)}
        />
        {by !== "waits" && <span class="count">{counted(total, "call")}</span>}
      </div>
      {!traced ? (
        <p class="empty">No system calls were traced in this recording.</p>
      ) : by === "waits" ? (
        <Waits stacks={stacks} />
      ) : (
        <Grid
          key={by}
          label="System calls"
          rows={rows}
          columns={columns}
          sort="time"
          id={(row) => row.key}
          lit={isLit}
          {...(by === "place" ? { choose: (row: Sum) => row.own >= 0 && go({ fn: row.own }, true) } : {})}
        />
      )}
    </section>
  );
}

/** Who waited for what, and who ended it. */
function Waits({ stacks }: { stacks: Uint8Array | null }) {
  const { recording, selection } = useLooking();
  const { waits, head } = recording;
  const own = recording.ownFunctions();
  const { scope } = selection;
  const rows = useMemo(() => {
    const rows: number[] = [];
    for (let i = 0; i < waits.time.length; i++) {
      if (scope.threads && !scope.threads.has(waits.thread[i]!)) continue;
      const end = waits.time[i]! + waits.duration[i]! / head.unit_ns;
      if (scope.range && (end < scope.range[0] || waits.time[i]! > scope.range[1])) continue;
      rows.push(i);
    }
    return rows;
  }, [waits, scope, head]);
  const named = (stack: number) => (stack >= 0 && own[stack]! >= 0 ? recording.name(own[stack]!) : "");
  const thread = (number: number) => (number >= 0 ? show(head.threads[number]?.name ?? "") : "");
  const text = (of: (row: number) => string) => ({ words: true, value: of, text: of });
  const columns: Column<number>[] = [
    { name: "asleep", value: (row) => waits.duration[row]!, text: (row) => time(waits.duration[row]!) },
    {
      name: "at",
      value: (row) => waits.time[row]!,
      text: (row) => moment(waits.time[row]! * head.unit_ns, head.span_ns),
    },
    { name: "who", ...text((row) => thread(waits.thread[row]!)) },
    { name: "call", code: true, ...text((row) => show(head.calls[waits.call[row]!] ?? "")) },
    { name: "on", ...text((row) => show(head.files[waits.file[row]!]?.path ?? "")) },
    { name: "in", code: true, ...text((row) => named(waits.stack[row]!)) },
    {
      name: "ended by",
      ...text((row) =>
        [thread(waits.waker[row]!), named(waits.wakerStack[row]!)].filter(Boolean).join(" · "),
      ),
    },
  ];
  return (
    <Grid
      label="Waits"
      rows={rows}
      columns={columns}
      sort="asleep"
      id={(row) => row}
      lit={(row) => stacks !== null && waits.stack[row]! >= 0 && stacks[waits.stack[row]!] === 1}
    />
  );
}
