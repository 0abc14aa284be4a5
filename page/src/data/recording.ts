// A recording in memory: columns as typed arrays, decoded once, and what is asked of them all the time.

import { baseName, type Outside, outside, type Shown, show } from "../shared/outside";
import { bytes, integers, numbers } from "./columns";
import type { Head, Module } from "./head";
import { processName, processOfFrame } from "./process";

/** The version of the data that this page reads. */
const VERSION = 1;

/** A function that stands for the unknown callers of a stack that does not reach the start of its thread. */
export const CALLERS_UNKNOWN = 0xffff_fffd;
/** A function that stands for what no function is known of. */
export const NO_STACK = 0xffff_fffe;
/** The whole of what is shown. */
export const ALL = 0xffff_ffff;

const STAND_INS = new Map([
  [ALL, show("all")],
  [NO_STACK, show("[no stack]")],
  [CALLERS_UNKNOWN, show("[callers unknown]")],
]);

/** The name of a number that is no function's but stands for something else. */
export function standIn(fn: number): Shown | undefined {
  return STAND_INS.get(fn);
}

/** Kinds of frames, as `frame.kind` has them. */
export const KERNEL = 1;
export const INLINED = 2;

const NONE = outside("");

const RUNTIME = 1;
const SYSTEM_CALL = 2;
const IN_KERNEL = 4;

export interface Samples {
  /** In the recording's unit of time, rising. */
  time: Uint32Array;
  thread: Uint32Array;
  /** -1 for none. */
  stack: Int32Array;
  /** CPU time that it stands for, ns. */
  weight: Float64Array;
  /** 1 if the stack reaches the start of the thread, 0 if not; null if the data does not say it of each. */
  complete: Uint8Array | null;
}

export interface Syscalls {
  /** Entry of the first call, in the recording's unit, rising. */
  time: Uint32Array;
  /** To the return of the last one. */
  span: Uint32Array;
  thread: Uint32Array;
  call: Uint32Array;
  /** -1 for none. */
  file: Int32Array;
  /** errno, 0 for none. */
  error: Uint32Array;
  /** The stack with the call itself innermost. */
  stack: Uint32Array;
  count: Float64Array;
  /** From entry to return, all together, ns. */
  duration: Float64Array;
  /** The part of it asleep, ns. */
  blocked: Float64Array;
  bytes: Float64Array;
}

export interface Waits {
  time: Uint32Array;
  thread: Uint32Array;
  call: Uint32Array;
  file: Int32Array;
  stack: Int32Array;
  waker: Int32Array;
  wakerStack: Int32Array;
  /** ns. */
  duration: Float64Array;
}

export class Recording {
  readonly head: Head;
  /** -1 at the outermost frame; else smaller than the stack itself. */
  readonly stackParent: Int32Array;
  readonly stackLocation: Uint32Array;
  /** Frames of location l, outermost first, are locationStart[l] … locationStart[l + 1]. */
  readonly locationStart: Uint32Array;
  readonly frameFunction: Uint32Array;
  readonly frameFile: Uint32Array;
  readonly frameLine: Uint32Array;
  readonly frameKind: Uint8Array;
  readonly samples: Samples;
  readonly syscalls: Syscalls;
  readonly waits: Waits;
  /** The process of each thread. */
  readonly threadProcess: Uint32Array;
  /** How many functions there are, system calls included. */
  readonly functions: number;
  /** The whole recording, in its unit of time. */
  readonly span: number;
  private readonly functionName: Uint32Array;
  private readonly functionModule: Uint32Array;
  private readonly functionFile: Uint32Array;
  private readonly functionLine: Uint32Array;
  private readonly functionFlags: Uint8Array;
  private own: Int32Array | undefined;
  /** Texts as they are shown, by number; made when they are first asked for. */
  private readonly shown: (Shown | undefined)[] = [];

  constructor(head: Head, data: Uint8Array) {
    if (head.version !== VERSION) {
      throw new Error(`the page's data has version ${head.version}, and this page reads ${VERSION}`);
    }
    this.head = head;
    this.threadProcess = Uint32Array.from(head.threads, (thread) => thread.process);
    const place = (name: string) => {
      const found = head.columns[name];
      if (!found)
        throw new Error(`the page's data has no column ${name}: it was not written by this version`);
      return found;
    };
    const ints = (name: string) => integers(data, place(name));
    const longs = (name: string) => numbers(data, place(name));
    // Counted from 1 where 0 is none, as they are stored; -1 is none where they are used.
    const orNone = (name: string) => {
      const values = ints(name);
      const out = new Int32Array(values.length);
      for (let i = 0; i < out.length; i++) out[i] = values[i]! - 1;
      return out;
    };
    const up = ints("stack.up");
    this.stackParent = new Int32Array(up.length);
    for (let i = 0; i < up.length; i++) this.stackParent[i] = up[i] === 0 ? -1 : i - up[i]!;
    this.stackLocation = ints("stack.location");
    const frames = ints("location.frames");
    this.locationStart = new Uint32Array(frames.length + 1);
    for (let i = 0; i < frames.length; i++) this.locationStart[i + 1] = this.locationStart[i]! + frames[i]!;
    this.frameFunction = ints("frame.function");
    this.frameFile = ints("frame.file");
    this.frameLine = ints("frame.line");
    this.frameKind = bytes(data, place("frame.kind"));
    this.functionName = ints("function.name");
    this.functionModule = ints("function.module");
    this.functionFile = ints("function.file");
    this.functionLine = ints("function.line");
    this.functionFlags = bytes(data, place("function.flags"));
    this.functions = this.functionName.length;
    this.span = Math.max(1, Math.ceil(head.span_ns / head.unit_ns));
    const weights = longs("weights");
    const weight = new Float64Array(ints("sample.weight").length);
    const index = ints("sample.weight");
    for (let i = 0; i < weight.length; i++) weight[i] = weights[index[i]!]!;
    this.samples = {
      time: ints("sample.time"),
      thread: ints("sample.thread"),
      stack: orNone("sample.stack"),
      weight,
      complete: head.columns["sample.complete"] ? bytes(data, place("sample.complete")) : null,
    };
    this.syscalls = {
      time: ints("syscall.time"),
      span: ints("syscall.span"),
      thread: ints("syscall.thread"),
      call: ints("syscall.call"),
      file: orNone("syscall.file"),
      error: ints("syscall.error"),
      stack: ints("syscall.stack"),
      count: longs("syscall.count"),
      duration: longs("syscall.duration"),
      blocked: longs("syscall.blocked"),
      bytes: longs("syscall.bytes"),
    };
    this.waits = {
      time: ints("wait.time"),
      thread: ints("wait.thread"),
      call: ints("wait.call"),
      file: orNone("wait.file"),
      stack: orNone("wait.stack"),
      waker: orNone("wait.waker"),
      wakerStack: orNone("wait.waker_stack"),
      duration: longs("wait.duration"),
    };
  }

  /** Whether a number is a function's, and not one that stands for something else. */
  isFunction(fn: number): boolean {
    return fn >= 0 && fn < this.functions;
  }

  /** A function's name as people read it. */
  name(fn: number): Shown {
    const other = standIn(fn);
    if (other) return other;
    const process = processOfFrame(this.head.processes, fn);
    if (process) return processName(process);
    const number = this.functionName[fn]!;
    const known = this.shown[number] ?? show(this.head.texts[number]!);
    this.shown[number] = known;
    return known;
  }

  /** A function's name as it is: two are one where it is the same. */
  ownName(fn: number): Outside {
    return this.head.texts[this.functionName[fn]!]!;
  }

  module(fn: number): Module | undefined {
    if (!this.isFunction(fn)) return undefined;
    return this.head.modules[this.functionModule[fn]! - 1];
  }

  /** The module's name; the kernel, and what stands for a system call, say so. */
  moduleName(fn: number): Shown {
    if (this.isSystemCall(fn)) return show("system call");
    return show(this.module(fn)?.name ?? (this.isKernel(fn) ? "kernel" : ""));
  }

  /** Where the function begins, `file:line`, as far as it is known. */
  place(fn: number): Shown {
    if (!this.isFunction(fn)) return show("");
    return place(this.file(fn), this.functionLine[fn]!);
  }

  /** The function's source file, empty if it is not known. */
  file(fn: number): Outside {
    if (!this.isFunction(fn)) return NONE;
    return this.text(this.functionFile[fn]!);
  }

  line(fn: number): number {
    return this.isFunction(fn) ? this.functionLine[fn]! : 0;
  }

  /** A text counted from 1; 0 is the empty one. */
  text(number: number): Outside {
    return number === 0 ? NONE : this.head.texts[number - 1]!;
  }

  isRuntime(fn: number): boolean {
    return fn < this.functions && (this.functionFlags[fn]! & RUNTIME) !== 0;
  }

  isKernel(fn: number): boolean {
    return fn < this.functions && (this.functionFlags[fn]! & IN_KERNEL) !== 0;
  }

  isSystemCall(fn: number): boolean {
    return fn < this.functions && (this.functionFlags[fn]! & SYSTEM_CALL) !== 0;
  }

  /** For each stack the innermost function on it that is of no language's runtime; -1 if there is none. */
  ownFunctions(): Int32Array {
    if (this.own) return this.own;
    const own = new Int32Array(this.stackParent.length).fill(-1);
    for (let stack = 0; stack < own.length; stack++) {
      const parent = this.stackParent[stack]!;
      if (parent >= 0) own[stack] = own[parent]!;
      const location = this.stackLocation[stack]!;
      for (let f = this.locationStart[location]!; f < this.locationStart[location + 1]!; f++) {
        const fn = this.frameFunction[f]!;
        const kernel = this.frameKind[f] === KERNEL;
        if (!this.isRuntime(fn) && !kernel) own[stack] = fn;
      }
    }
    this.own = own;
    return own;
  }

  /** Functions on a stack, outermost first. */
  functionsOf(stack: number): number[] {
    const path: number[] = [];
    for (let at = stack; at >= 0; at = this.stackParent[at]!) {
      const location = this.stackLocation[at]!;
      for (let f = this.locationStart[location + 1]! - 1; f >= this.locationStart[location]!; f--) {
        path.push(this.frameFunction[f]!);
      }
    }
    return path.reverse();
  }
}

/** `file:line`, the file's own name only. */
export function place(file: Outside | null, line: number | null): Shown {
  const name = show(baseName(file ?? NONE));
  return line && name ? show(`${name}:${line}`) : name;
}
