// The lanes of the timeline on paper: each a line of its own, its name as text, so that it fits any width.

import { useLayoutEffect, useRef } from "preact/hooks";
import { picture } from "../shared/picture";
import { counted } from "../shared/units";
import type { Lane } from "./lanes";
import { type Colours, LANE, type Lanes } from "./paint";

/** Pixels, which the style stretches to the width of the paper. */
const WIDTH = 700;
/** So many lanes are printed at most. */
const MOST = 300;

export interface PrintedProps {
  lanes: readonly Lane[];
  painter: Lanes;
  from: number;
  to: number;
  colours: Colours;
  lit: Uint8Array | null;
}

export function Printed({ lanes, painter, from, to, colours, lit }: PrintedProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    box.current!.querySelectorAll("canvas").forEach((canvas, at) => {
      const size = { width: WIDTH, height: LANE, labels: 0 };
      picture(canvas, WIDTH, LANE, (context) =>
        painter.paint(context, [lanes[at]!], size, 0, from, to, colours, "", lit),
      );
    });
  }, [lanes, painter, from, to, colours, lit]);
  return (
    <div class="lanes-printed" ref={box}>
      {lanes.slice(0, MOST).map((lane) => (
        <div class="lane-printed" key={lane.who}>
          <span class="lane-name" style={{ paddingLeft: `${8 + Math.min(6, lane.depth) * 12}px` }}>
            {lane.label} <span class="faint">{lane.detail}</span>
          </span>
          <span>
            <canvas />
          </span>
        </div>
      ))}
      {lanes.length > MOST && <p class="faint">{counted(lanes.length - MOST, "more lane")} not printed.</p>}
    </div>
  );
}
