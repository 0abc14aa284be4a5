// A flame graph on paper: every row of it, in pieces between which a page may break.

import { useLayoutEffect, useRef } from "preact/hooks";
import { picture } from "../shared/picture";
import { count } from "../shared/units";
import type { Tree } from "../tree/tree";
import { type Look, paint, ROW } from "./paint";

/** Pixels; the style makes it as wide as the paper, so that letters come out at about 8 points. */
const WIDTH = 820;
/** Rows of one piece. */
const ROWS = 10;
/** So many rows are printed at most, those next to the root. */
const MOST = 400;

export interface PrintedProps {
  tree: Tree;
  look: Look;
  upward: boolean;
  zoomed: number;
}

export function Printed({ tree, look, upward, zoomed }: PrintedProps) {
  const box = useRef<HTMLDivElement>(null);
  const rows = Math.min(tree.rows, MOST);
  const pieces = Array.from({ length: Math.ceil(rows / ROWS) }, (_, piece) => piece * ROWS);
  useLayoutEffect(() => {
    box.current!.querySelectorAll("canvas").forEach((canvas, piece) => {
      const first = piece * ROWS;
      const height = Math.min(ROWS, rows - first) * ROW;
      const from = tree.start[zoomed] ?? 0;
      const to = from + (tree.total[zoomed] || 1);
      // Upwards the root is the last row: what is left out is above.
      const scroll = (upward ? tree.rows - rows + first : first) * ROW;
      const whole = tree.rows * ROW;
      picture(canvas, WIDTH, height, (context) =>
        paint(context, tree, { from, to, width: WIDTH, height, scroll, upward, whole }, look),
      );
    });
  }, [tree, look, upward, zoomed, rows]);
  return (
    <div class="flame-printed" ref={box}>
      {pieces.map((first) => (
        <canvas key={first} />
      ))}
      {rows < tree.rows && <p class="faint">{count(tree.rows - rows)} more rows are not printed.</p>}
    </div>
  );
}
