// What source files cost, and each line of them: in itself, and with all that is called from it.

import type { Recording } from "../data/recording";
import type { Weights } from "../data/scope";
import type { Outside } from "../shared/outside";

export interface LineCosts {
  /** In the file's own code, whether the line is known or not. */
  own: number;
  /** With all that is called from it. */
  total: number;
  self: Map<number, number>;
  inclusive: Map<number, number>;
}

/** ns by file and line. Of a file or line that is on a stack several times each moment counts once. */
export function lineCosts(recording: Recording, weights: Weights): Map<Outside, LineCosts> {
  const { stackParent, stackLocation, locationStart, frameFile, frameLine } = recording;
  const files = new Map<number, LineCosts>();
  const of = (file: number) => {
    let costs = files.get(file);
    if (!costs) {
      costs = { own: 0, total: 0, self: new Map(), inclusive: new Map() };
      files.set(file, costs);
    }
    return costs;
  };
  const add = (to: Map<number, number>, line: number, ns: number) => to.set(line, (to.get(line) ?? 0) + ns);
  const seen = new Set<number>();
  for (let stack = 0; stack < weights.byStack.length; stack++) {
    const ns = weights.byStack[stack]!;
    if (ns === 0) continue;
    seen.clear();
    let innermost = true;
    for (let at = stack; at >= 0; at = stackParent[at]!) {
      const location = stackLocation[at]!;
      for (let f = locationStart[location + 1]! - 1; f >= locationStart[location]!; f--) {
        const [file, line] = [frameFile[f]!, frameLine[f]!];
        if (file > 0 && innermost) of(file).own += ns;
        if (file > 0 && !seen.has(file * 2 ** 24)) of(file).total += ns;
        if (file > 0) seen.add(file * 2 ** 24);
        if (file > 0 && line > 0) {
          const key = file * 2 ** 24 + line;
          if (innermost) add(of(file).self, line, ns);
          if (!seen.has(key)) add(of(file).inclusive, line, ns);
          seen.add(key);
        }
        innermost = false;
      }
    }
  }
  return new Map([...files].map(([file, costs]) => [recording.text(file), costs]));
}

export interface FileCost {
  path: Outside;
  /** In its own code, ns. */
  own: number;
  /** With all that is called from it, ns. */
  total: number;
}

/** Files in the order in which they are worth reading: those whose text is there first, then by their own cost. */
export function fileCosts(
  costs: ReadonlyMap<Outside, LineCosts>,
  readable: ReadonlySet<Outside>,
): FileCost[] {
  const rows = [...costs].map(([path, { own, total }]) => ({ path, own, total }));
  const first = (row: FileCost) => (readable.has(row.path) ? 1 : 0);
  return rows.sort((a, b) => first(b) - first(a) || b.own - a.own || b.total - a.total);
}
