// Stacks that do not reach the start of their thread: whoever called their outermost frame could not be read.

import type { Recording } from "./recording";

/**
 * For each stack whether its outermost frame has callers that nobody knows. Samples say that of their stacks; stacks of system calls are
 * known by their outermost frame, which a complete stack does not begin with.
 */
export function rootless(recording: Recording): Uint8Array {
  const { stackParent, samples } = recording;
  const out = new Uint8Array(stackParent.length);
  const { complete } = samples;
  if (!complete) return out;
  const outermost = new Int32Array(out.length);
  for (let stack = 0; stack < out.length; stack++) {
    const parent = stackParent[stack]!;
    outermost[stack] = parent < 0 ? stack : outermost[parent]!;
  }
  // By number of samples: one frame is hardly ever both.
  const cut = new Int32Array(out.length);
  for (let i = 0; i < complete.length; i++) {
    const stack = samples.stack[i]!;
    if (stack >= 0) cut[outermost[stack]!]! += complete[i] === 1 ? -1 : 1;
  }
  for (let stack = 0; stack < out.length; stack++) out[stack] = cut[outermost[stack]!]! > 0 ? 1 : 0;
  return out;
}

/** The share (0 to 1) of the samples whose stack is incomplete. */
export function incompleteShare(recording: Recording): number {
  if (recording.samples.time.length === 0) return 0;
  return Math.max(0, 1 - recording.head.findings.recording.complete_stacks_share);
}
