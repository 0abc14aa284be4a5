// Processes by name, and as numbers among those of functions: a frame of the flame graph can be a process.

import { baseName, type Outside, type Shown, show } from "../shared/outside";
import type { Process } from "./head";

/** Process p is the frame with this number and p. No recording has as many functions. */
const FIRST = 0xf000_0000;

/** The number of a process among functions. */
export function processFrame(process: number): number {
  return FIRST + process;
}

/** The process that a number among functions is; undefined if it is none. */
export function processOfFrame(processes: readonly Process[], fn: number): Process | undefined {
  return processes[fn - FIRST];
}

/** The program's own name. */
export function programName(path: Outside): Shown {
  return show(baseName(path)) || show("?");
}

/** The program and the number, as in `make 1234`. */
export function processName(process: Process): Shown {
  return show(`${programName(process.program)} ${process.pid}`);
}
