// Which functions are lit up: those that a search finds, or those that a finding is about.

import { show } from "../shared/outside";
import type { Finding } from "./head";
import type { Recording } from "./recording";

export interface Lit {
  /** One byte a function: 1 is lit. */
  functions: Uint8Array;
  /** Functions that are not lit but lead there. */
  path: ReadonlySet<number>;
  files: ReadonlySet<number>;
}

/** What `module:` and `file:` before a search mean: it looks there, not at functions' names. */
const FIELDS = { module: "moduleName", file: "file" } as const;

/**
 * The functions whose name contains the text, whatever the case of its letters; between slashes it is a regular expression.
 * `module:` and `file:` before it look there. All is looked for as it is shown. Null if nothing is asked, an error if the expression is none.
 */
export function search(recording: Recording, query: string): Lit | Error | null {
  const [, field, rest] = /^\s*(?:(module|file):)?(.*)$/s.exec(query)!;
  const wanted = rest!.trim();
  if (wanted === "") return null;
  let matches: (text: string) => boolean;
  const expression = /^\/(.+)\/(i?)$/.exec(wanted);
  if (expression) {
    try {
      const compiled = new RegExp(expression[1]!, expression[2]);
      matches = (text) => compiled.test(text);
    } catch (error) {
      return error as Error;
    }
  } else {
    const lower = wanted.toLowerCase();
    matches = (text) => text.toLowerCase().includes(lower);
  }
  const asked = field ? FIELDS[field as keyof typeof FIELDS] : "name";
  const functions = new Uint8Array(recording.functions);
  // Texts are fewer than functions: each is asked once.
  const known = new Map<string, boolean>();
  const once = (text: string) => {
    let answer = known.get(text);
    if (answer === undefined) {
      answer = text !== "" && matches(text);
      known.set(text, answer);
    }
    return answer;
  };
  for (let fn = 0; fn < functions.length; fn++) functions[fn] = once(show(recording[asked](fn))) ? 1 : 0;
  const files = new Set<number>();
  recording.head.files.forEach((file, number) => {
    if (field !== "module" && once(show(file.path))) files.add(number);
  });
  return { functions, path: new Set(), files };
}

/** What a finding is about. */
export function ofFinding(recording: Recording, finding: Finding): Lit {
  const functions = new Uint8Array(recording.functions);
  for (const fn of finding.lit.guilty) functions[fn] = 1;
  return { functions, path: new Set(finding.lit.path), files: new Set(finding.lit.files) };
}

/** One function. */
export function ofFunction(recording: Recording, fn: number): Lit {
  const functions = new Uint8Array(recording.functions);
  if (fn < functions.length) functions[fn] = 1;
  return { functions, path: new Set(), files: new Set() };
}

/** For each stack whether a lit function is on it. */
export function litStacks(recording: Recording, lit: Lit): Uint8Array {
  const stacks = new Uint8Array(recording.stackParent.length);
  for (let stack = 0; stack < stacks.length; stack++) {
    const parent = recording.stackParent[stack]!;
    if (parent >= 0 && stacks[parent] === 1) {
      stacks[stack] = 1;
      continue;
    }
    const location = recording.stackLocation[stack]!;
    for (let f = recording.locationStart[location]!; f < recording.locationStart[location + 1]!; f++) {
      if (lit.functions[recording.frameFunction[f]!] === 1) stacks[stack] = 1;
    }
  }
  return stacks;
}

/** The process in which most time passed under what is lit, on and off the CPU; -1 if it is in none. */
export function processOf(recording: Recording, lit: Lit): number {
  const stacks = litStacks(recording, lit);
  const { samples, syscalls, head } = recording;
  const ns = new Float64Array(head.processes.length);
  for (let i = 0; i < samples.time.length; i++) {
    const stack = samples.stack[i]!;
    if (stack >= 0 && stacks[stack] === 1)
      ns[head.threads[samples.thread[i]!]!.process]! += samples.weight[i]!;
  }
  for (let i = 0; i < syscalls.time.length; i++) {
    if (stacks[syscalls.stack[i]!] === 1)
      ns[head.threads[syscalls.thread[i]!]!.process]! += syscalls.blocked[i]!;
  }
  let most = -1;
  ns.forEach((time, process) => {
    if (time > (ns[most] ?? 0)) most = process;
  });
  return most;
}
