// What could not be seen, in sentences: what the reports say of collectors and losses, and stacks that are incomplete.

import type { Recording } from "../data/recording";
import { incompleteShare } from "../data/rootless";
import { type Shown, show } from "../shared/outside";
import { share } from "../shared/units";

export function limitations(recording: Recording): Shown[] {
  const unseen = recording.head.run.unseen.map((sentence) => show(sentence));
  const incomplete = incompleteShare(recording);
  if (incomplete > 0) unseen.push(show(stacks(incomplete, recording.samples.complete !== null)));
  return unseen;
}

/** `marked` says that the page knows which stacks these are. */
function stacks(incomplete: number, marked: boolean): string {
  const where = marked
    ? "In the flame graph and among callers they stand under [callers unknown]"
    : "In the flame graph they begin at the outermost function that is known";
  return (
    `${share(incomplete)} of the samples have an incomplete stack: it does not reach the start of the thread, so some of ` +
    `its callers are unknown. ${where}, and the inclusive time of the missing callers is too low.`
  );
}
