// How many stacks are incomplete, beside what is made of them: callers that are missing there are missing in every figure.

import { useLooking } from "../context";
import { incompleteShare } from "../data/rootless";
import { share } from "../shared/units";

/** So small a share changes no figure that is shown. */
const LEAST = 0.005;

export function Incomplete() {
  const { recording, go } = useLooking();
  const incomplete = incompleteShare(recording);
  if (incomplete < LEAST) return null;
  return (
    <button type="button" class="link" onClick={() => go({ view: "about" })}>
      {share(incomplete)} of the samples have an incomplete stack
    </button>
  );
}
