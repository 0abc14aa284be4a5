// System calls added up: by call, by the place that makes them, by file.

import type { Recording } from "../data/recording";
import { type Scope, within } from "../data/scope";
import type { Outside } from "../shared/outside";

export interface Sum {
  /** What it is a sum of: of files, the path. */
  key: string | Outside;
  call: number;
  /** The function of the program itself that makes it; -1 if it is not known. */
  own: number;
  file: number;
  count: number;
  errors: number;
  bytes: number;
  /** From entry to return, ns. */
  duration: number;
  /** The part of it asleep, ns. */
  blocked: number;
  lit: boolean;
}

export type By = "call" | "place" | "file";

/** Adds up what is within the scope. Rows of several calls that are partly within it count in proportion. */
export function sums(recording: Recording, scope: Scope, by: By, lit: Uint8Array | null): Sum[] {
  const { syscalls } = recording;
  const own = recording.ownFunctions();
  const found = new Map<Sum["key"], Sum>();
  for (let i = 0; i < syscalls.time.length; i++) {
    if (scope.threads && !scope.threads.has(syscalls.thread[i]!)) continue;
    const part = within(scope.range, syscalls.time[i]!, syscalls.span[i]!);
    if (part === 0) continue;
    const call = syscalls.call[i]!;
    const place = own[syscalls.stack[i]!]!;
    const file = syscalls.file[i]!;
    const key =
      by === "call"
        ? `${call}`
        : by === "place"
          ? `${call} ${place}`
          : (recording.head.files[file]?.path ?? "");
    let sum = found.get(key);
    if (!sum) {
      sum = {
        key,
        call,
        own: place,
        file,
        count: 0,
        errors: 0,
        bytes: 0,
        duration: 0,
        blocked: 0,
        lit: false,
      };
      found.set(key, sum);
    }
    sum.count += syscalls.count[i]! * part;
    if (syscalls.error[i]! > 0) sum.errors += syscalls.count[i]! * part;
    sum.bytes += syscalls.bytes[i]! * part;
    sum.duration += syscalls.duration[i]! * part;
    sum.blocked += syscalls.blocked[i]! * part;
    if (lit && lit[syscalls.stack[i]!] === 1) sum.lit = true;
  }
  return [...found.values()];
}
