// The processes: as a tree, with what each was started with and what it used; and added up by program.

import { useMemo, useState } from "preact/hooks";
import { useLooking } from "../context";
import { programName } from "../data/process";
import { type Column, Grid } from "../shared/grid";
import { show } from "../shared/outside";
import { Segments } from "../shared/segments";
import { bytes, count, counted, moment, share, time } from "../shared/units";
import { processTree } from "../timeline/lanes";

interface Row {
  number: number;
  order: number;
  depth: number;
  /** CPU time that the scope sees, ns. */
  seen: number;
}

export function ProcessesView() {
  const { recording, selection, state, go, lit } = useLooking();
  const { processes, threads, span_ns } = recording.head;
  const [by, setBy] = useState<"tree" | "program">("tree");
  const rows = useMemo<Row[]>(() => {
    const seen = new Float64Array(processes.length);
    const { samples } = recording;
    const { range } = selection.scope;
    for (let i = 0; i < samples.time.length; i++) {
      if (range && (samples.time[i]! < range[0] || samples.time[i]! > range[1])) continue;
      seen[threads[samples.thread[i]!]!.process]! += samples.weight[i]!;
    }
    return processTree(recording).map(({ process, depth }, order) => ({
      number: process,
      order,
      depth,
      seen: seen[process]!,
    }));
  }, [recording, processes, threads, selection]);
  // Of processes, those are lit that did what is lit.
  const litProcesses = useMemo(() => {
    const found = new Set<number>();
    if (!lit) return found;
    const hit = (thread: number, stack: number) => {
      for (let at = stack; at >= 0; at = recording.stackParent[at]!) {
        const location = recording.stackLocation[at]!;
        for (let f = recording.locationStart[location]!; f < recording.locationStart[location + 1]!; f++) {
          if (lit.functions[recording.frameFunction[f]!] === 1) {
            found.add(threads[thread]!.process);
            return;
          }
        }
      }
    };
    const known = new Set<string>();
    const once = (thread: number, stack: number) => {
      const key = `${thread} ${stack}`;
      if (known.has(key)) return;
      known.add(key);
      hit(thread, stack);
    };
    const { samples, syscalls } = recording;
    for (let i = 0; i < samples.time.length; i++) once(samples.thread[i]!, samples.stack[i]!);
    for (let i = 0; i < syscalls.time.length; i++) once(syscalls.thread[i]!, syscalls.stack[i]!);
    return found;
  }, [recording, threads, lit]);
  const of = (row: Row) => processes[row.number]!;
  const said = (row: Row) => {
    const { program, arguments: given } = of(row);
    return [programName(program), ...given.slice(1).map(show)].join(" ");
  };
  const columns: Column<Row>[] = [
    {
      name: "process",
      words: true,
      code: true,
      title: "In tree order",
      value: (row) => String(row.order).padStart(9, "0"),
      text: (row) => `${"\u00a0\u00a0".repeat(Math.min(12, row.depth))}${said(row)}`,
    },
    { name: "pid", value: (row) => of(row).pid, text: (row) => String(of(row).pid) },
    { name: "start", value: (row) => of(row).start_ns, text: (row) => moment(of(row).start_ns, span_ns) },
    { name: "lifetime", value: (row) => lived(row), text: (row) => time(lived(row)) },
    {
      name: "CPU",
      title: "CPU time of its threads, from the kernel",
      value: (row) => of(row).cpu_ns ?? -1,
      text: (row) => (of(row).cpu_ns === null ? "?" : time(of(row).cpu_ns!)),
    },
    {
      name: "user",
      title: "Share of its CPU time in user mode",
      value: (row) => userShare(row),
      text: (row) => (of(row).cpu_ns ? share(userShare(row)) : ""),
    },
    {
      name: "sampled",
      title: "CPU time of the samples in the selection",
      value: (row) => row.seen,
      text: (row) => (row.seen > 0 ? time(row.seen) : ""),
    },
    {
      name: "memory",
      title: "Peak resident memory",
      value: (row) => of(row).memory ?? -1,
      text: (row) => (of(row).memory === null ? "?" : bytes(of(row).memory!)),
    },
    { name: "exit", value: (row) => of(row).exit ?? -1, text: (row) => exitText(of(row).exit) },
  ];
  function lived(row: Row): number {
    return Math.max(0, (of(row).end_ns ?? span_ns) - of(row).start_ns);
  }
  function userShare(row: Row): number {
    return (of(row).user_ns ?? 0) / Math.max(1, of(row).cpu_ns ?? 1);
  }
  const chosen = state.who.startsWith("p") ? Number(state.who.slice(1)) : -1;
  return (
    <section class="processes" aria-label="Processes">
      <div class="bar">
        <Segments
          label="Shown"
          value={by}
          options={[
            ["tree", "Tree", "parents and children"],
            ["program", "By program", "totals per program"],
          ]}
          choose={(value) => setBy(value as typeof by)}
        />
        <span class="count">
          {count(processes.length)} {processes.length === 1 ? "process" : "processes"},{" "}
          {counted(threads.length, "thread")}
        </span>
        <span class="hint">click a process to select it in every view</span>
      </div>
      {by === "tree" ? (
        <Grid
          label="Processes"
          rows={rows}
          columns={columns}
          sort="process"
          id={(row) => row.number}
          selected={chosen}
          lit={(row) => litProcesses.has(row.number)}
          choose={(row) => go({ who: row.number === chosen ? "" : `p${row.number}`, zoom: [] })}
        />
      ) : (
        <Programs />
      )}
    </section>
  );
}

interface Program {
  name: string;
  times: number;
  cpu: number;
  lived: number;
  memory: number;
  failed: number;
}

function Programs() {
  const { recording } = useLooking();
  const { processes, span_ns } = recording.head;
  const rows = useMemo(() => {
    const found = new Map<string, Program>();
    for (const process of processes) {
      const name = programName(process.program);
      const sum = found.get(name) ?? { name, times: 0, cpu: 0, lived: 0, memory: 0, failed: 0 };
      sum.times++;
      sum.cpu += process.cpu_ns ?? 0;
      sum.lived += Math.max(0, (process.end_ns ?? span_ns) - process.start_ns);
      sum.memory = Math.max(sum.memory, process.memory ?? 0);
      sum.failed += process.exit ? 1 : 0;
      found.set(name, sum);
    }
    return [...found.values()];
  }, [processes, span_ns]);
  const most = rows.reduce((high, row) => Math.max(high, row.cpu), 1);
  const columns: Column<Program>[] = [
    { name: "CPU", value: (row) => row.cpu, text: (row) => time(row.cpu), bar: (row) => row.cpu / most },
    { name: "processes", value: (row) => row.times, text: (row) => count(row.times) },
    { name: "CPU each", value: (row) => row.cpu / row.times, text: (row) => time(row.cpu / row.times) },
    {
      name: "lifetime each",
      value: (row) => row.lived / row.times,
      text: (row) => time(row.lived / row.times),
    },
    {
      name: "memory",
      title: "Peak resident memory of the largest process",
      value: (row) => row.memory,
      text: (row) => bytes(row.memory),
    },
    {
      name: "failed",
      title: "Exit code other than 0",
      value: (row) => row.failed,
      text: (row) => (row.failed ? count(row.failed) : ""),
    },
    { name: "program", words: true, code: true, value: (row) => row.name, text: (row) => row.name },
  ];
  return <Grid label="Programs" rows={rows} columns={columns} sort="CPU" id={(row) => row.name} />;
}

function exitText(exit: number | null): string {
  if (exit === null) return "unknown";
  return exit > 128 ? `signal ${exit - 128}` : String(exit);
}
