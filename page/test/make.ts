// Makes a recording out of a few words, in the very bytes that the Rust side writes.

import type { Place } from "../src/data/columns";
import { parse } from "../src/data/load";
import type { Recording } from "../src/data/recording";

export interface Made {
  /**
   * Call paths, outermost first, such as `main;load;?parse`: a function behind `?` was inlined, behind `!` is of the kernel. `f@a.c:3` is
   * line 3 of a.c in f.
   */
  samples: { path: string; at?: number; ns?: number; thread?: number; complete?: boolean }[];
  syscalls?: {
    path: string;
    call: string;
    at: number;
    span: number;
    blocked?: number;
    count?: number;
    /** ns; else the whole span. */
    duration?: number;
    thread?: number;
  }[];
  /** Process of each thread. */
  threads?: number[];
  /** Module of a function; else `prog`. */
  modules?: Record<string, string>;
  runs?: number;
  /** Share of the samples with a complete stack, where none says it of itself. */
  complete_share?: number;
  /** What the reports say could not be seen. */
  unseen?: string[];
  cpu_ns?: number;
}

class Columns {
  private parts: Uint8Array[] = [];
  private offset = 0;
  readonly places: Record<string, Place> = {};

  private push(name: string, values: Uint8Array[], width: number, delta: boolean, float: boolean): void {
    const bytes = new Uint8Array(values.length * width);
    for (let plane = 0; plane < width; plane++) {
      values.forEach((value, i) => {
        bytes[plane * values.length + i] = value[plane]!;
      });
    }
    this.places[name] = { width, length: values.length, offset: this.offset, delta, float };
    this.parts.push(bytes);
    this.offset += bytes.length;
  }

  u8(name: string, values: number[]): void {
    this.push(
      name,
      values.map((value) => Uint8Array.of(value)),
      1,
      false,
      false,
    );
  }

  u32(name: string, values: number[], delta = false): void {
    const own = values.map((value, i) => (delta && i > 0 ? value - values[i - 1]! : value));
    this.push(
      name,
      own.map((value) => new Uint8Array(Uint32Array.of(value).buffer)),
      4,
      delta,
      false,
    );
  }

  u64(name: string, values: number[]): void {
    this.push(
      name,
      values.map((value) => new Uint8Array(BigUint64Array.of(BigInt(value)).buffer)),
      8,
      false,
      false,
    );
  }

  f64(name: string, values: number[]): void {
    this.push(
      name,
      values.map((value) => new Uint8Array(Float64Array.of(value).buffer)),
      8,
      false,
      true,
    );
  }

  bytes(): Uint8Array {
    const out = new Uint8Array(this.offset);
    let at = 0;
    for (const part of this.parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
}

export function make(made: Made): Recording {
  const texts: string[] = [];
  const text = (value: string) => {
    if (!texts.includes(value)) texts.push(value);
    return texts.indexOf(value);
  };
  const modules: string[] = [];
  const functions: string[] = [];
  const calls = [...new Set((made.syscalls ?? []).map((row) => row.call))];
  const fn = (name: string) => {
    if (!functions.includes(name)) functions.push(name);
    return functions.indexOf(name);
  };
  const locations: { fn: number; kind: number; file: number; line: number }[] = [];
  const location = (word: string) => {
    const kind = word.startsWith("?") ? 2 : word.startsWith("!") ? 1 : 0;
    const [name, file, line] = word.replace(/^[?!]/, "").split(/[@:](?=[^@:])/);
    const one = { fn: fn(name!), kind, file: file ? text(file) + 1 : 0, line: Number(line ?? 0) };
    const same = (other: typeof one) =>
      other.kind === kind && other.file === one.file && other.line === one.line;
    let at = locations.findIndex((other) => other.fn === one.fn && same(other));
    if (at < 0) at = locations.push(one) - 1;
    return at;
  };
  const stacks: { parent: number; location: number }[] = [];
  const stack = (path: string) => {
    let parent = -1;
    for (const word of path.split(";").filter(Boolean)) {
      const of = location(word);
      const known = stacks.findIndex((row) => row.parent === parent && row.location === of);
      parent = known >= 0 ? known : stacks.push({ parent, location: of }) - 1;
    }
    return parent;
  };
  const samples = made.samples.map((row) => ({ at: 0, ns: 1000, thread: 0, ...row, stack: stack(row.path) }));
  const rows = (made.syscalls ?? []).map((row) => ({
    blocked: 0,
    count: 1,
    thread: 0,
    ...row,
    under: stack(row.path),
  }));
  const columns = new Columns();
  // The calls themselves, as innermost frames.
  const places = locations.length;
  const ofCall = rows.map(
    (row) => stacks.push({ parent: row.under, location: places + calls.indexOf(row.call) }) - 1,
  );
  columns.u32(
    "stack.up",
    stacks.map((row, i) => (row.parent < 0 ? 0 : i - row.parent)),
  );
  columns.u32(
    "stack.location",
    stacks.map((row) => row.location),
    true,
  );
  columns.u32(
    "location.frames",
    [...locations, ...calls].map(() => 1),
  );
  columns.u32("frame.function", [
    ...locations.map((row) => row.fn),
    ...calls.map((_, i) => functions.length + i),
  ]);
  columns.u32("frame.file", [...locations.map((row) => row.file), ...calls.map(() => 0)]);
  columns.u32("frame.line", [...locations.map((row) => row.line), ...calls.map(() => 0)]);
  columns.u8("frame.kind", [...locations.map((row) => row.kind), ...calls.map(() => 1)]);
  columns.u32("function.name", [...functions, ...calls].map(text));
  columns.u32("function.module", [
    ...functions.map((name) => {
      const module = made.modules?.[name] ?? "prog";
      if (!modules.includes(module)) modules.push(module);
      return modules.indexOf(module) + 1;
    }),
    ...calls.map(() => 0),
  ]);
  columns.u32(
    "function.file",
    [...functions, ...calls].map(() => 0),
  );
  columns.u32(
    "function.line",
    [...functions, ...calls].map(() => 0),
  );
  columns.u8("function.flags", [...functions.map(() => 0), ...calls.map(() => 3)]);
  columns.f64(
    "weights",
    samples.map((row) => row.ns),
  );
  columns.u32(
    "sample.time",
    samples.map((row) => row.at),
    true,
  );
  columns.u32(
    "sample.thread",
    samples.map((row) => row.thread),
  );
  columns.u32(
    "sample.stack",
    samples.map((row) => row.stack + 1),
  );
  columns.u32(
    "sample.weight",
    samples.map((_, i) => i),
  );
  // The data need not say it of each sample.
  const known = samples.filter((row) => row.complete !== undefined);
  if (known.length > 0)
    columns.u8(
      "sample.complete",
      samples.map((row) => (row.complete === false ? 0 : 1)),
    );
  columns.u32(
    "syscall.time",
    rows.map((row) => row.at),
    true,
  );
  columns.u32(
    "syscall.span",
    rows.map((row) => row.span),
  );
  columns.u32(
    "syscall.thread",
    rows.map((row) => row.thread),
  );
  columns.u32(
    "syscall.call",
    rows.map((row) => calls.indexOf(row.call)),
  );
  columns.u32(
    "syscall.file",
    rows.map(() => 0),
  );
  columns.u32(
    "syscall.error",
    rows.map(() => 0),
  );
  columns.u32("syscall.stack", ofCall, true);
  columns.u64(
    "syscall.count",
    rows.map((row) => row.count),
  );
  columns.u64(
    "syscall.duration",
    rows.map((row) => row.duration ?? row.span * 1000),
  );
  columns.u64(
    "syscall.blocked",
    rows.map((row) => row.blocked),
  );
  columns.u64(
    "syscall.bytes",
    rows.map(() => 0),
  );
  for (const name of ["time", "thread", "call", "file", "stack", "waker", "waker_stack"])
    columns.u32(`wait.${name}`, []);
  columns.u64("wait.duration", []);
  const complete = samples.filter((row) => row.complete !== false).length;
  const total = samples.reduce((sum, row) => sum + row.ns, 0);
  const end = Math.max(1, ...samples.map((row) => row.at), ...rows.map((row) => row.at + row.span));
  const threads = made.threads ?? [0];
  const process = {
    parent: null,
    pid: 1,
    run: 0,
    program: "/bin/prog",
    arguments: ["prog"],
    directory: "/",
    start_ns: 0,
  };
  const head = {
    version: 1,
    name: "made",
    about: { runs: made.runs ?? 1, command: ["prog"] },
    run: {
      facts: [],
      coverage: "",
      unseen: made.unseen ?? [],
      nothing: [],
      not_explained: [],
      cut_short: null,
      cpu_ns: made.cpu_ns ?? total,
    },
    findings: {
      recording: { complete_stacks_share: made.complete_share ?? complete / Math.max(1, samples.length) },
      findings: [],
      hot: [],
      notes: [],
    },
    unit_ns: 1000,
    span_ns: end * 1000,
    modules: modules.map((name) => ({
      path: name,
      name,
      role: name === "prog" ? "program" : "library",
      build: null,
    })),
    processes: [...new Set(threads)].map((_, i) => ({
      ...process,
      pid: i + 1,
      exec_ns: 0,
      end_ns: null,
      exit: 0,
      cpu_ns: 0,
      user_ns: 0,
      memory: 0,
    })),
    threads: threads.map((of, i) => ({
      process: of,
      tid: i,
      name: `t${i}`,
      start_ns: 0,
      end_ns: null,
      cpu_ns: 0,
    })),
    files: [],
    calls,
    counted: [],
    texts,
    columns: columns.places,
  };
  const json = new TextEncoder().encode(JSON.stringify(head));
  const tail = columns.bytes();
  const data = new Uint8Array(4 + json.length + tail.length);
  new DataView(data.buffer).setUint32(0, json.length, true);
  data.set(json, 4);
  data.set(tail, 4 + json.length);
  return parse(data);
}

/** A tree as text: one line a node, `depth name total self`. */
export function drawn(
  recording: Recording,
  tree: { count: number; depth: Uint32Array; fn: Uint32Array; total: Float64Array; self: Float64Array },
): string[] {
  return Array.from(
    { length: tree.count },
    (_, i) => `${" ".repeat(tree.depth[i]!)}${recording.name(tree.fn[i]!)} ${tree.total[i]} ${tree.self[i]}`,
  );
}

/** The number of a function. */
export function numberOf(recording: Recording, name: string): number {
  for (let fn = 0; fn < recording.functions; fn++) if (recording.name(fn) === name) return fn;
  throw new Error(`no function ${name}`);
}
