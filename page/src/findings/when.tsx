// When in the run a finding's function was at work: a strip under its plots.

import { useCallback, useMemo } from "preact/hooks";
import { useLooking } from "../context";
import type { Finding } from "../data/head";
import { litStacks, ofFinding } from "../data/lit";
import { Canvas, colour } from "../shared/canvas";
import { show } from "../shared/outside";
import { moment } from "../shared/units";
import { asleep, busy } from "../timeline/bins";

const BINS = 160;
const HEIGHT = 30;

export function When({ finding }: { finding: Finding }) {
  const { recording, theme } = useLooking();
  const wall = finding.basis === "wall";
  const bins = useMemo(() => {
    if (finding.lit.guilty.length === 0) return null;
    const stacks = litStacks(recording, ofFinding(recording, finding));
    const sum = busy(recording, BINS, 0, recording.span, null, stacks);
    if (wall)
      asleep(recording, BINS, 0, recording.span, null, stacks).forEach((ns, bin) => {
        sum[bin]! += ns;
      });
    return sum;
  }, [recording, finding, wall]);
  // the theme changes the colours that are read
  const draw = useCallback(
    (context: CanvasRenderingContext2D, width: number, height: number) => {
      if (!bins) return;
      const most = Math.max(1, ...bins);
      context.fillStyle = colour("--line");
      context.fillRect(0, height - 1, width, 1);
      context.fillStyle = colour("--on");
      const wide = width / BINS;
      bins.forEach((ns, bin) => {
        const tall = (ns / most) * (height - 2);
        if (tall > 0.1) context.fillRect(bin * wide, height - 1 - tall, Math.max(1, wide - 0.5), tall);
      });
    },
    [bins, theme],
  );
  if (!bins?.some((ns) => ns > 0)) return null;
  const span = recording.head.span_ns;
  return (
    <figure class="plot when" aria-label={`When ${show(finding.function)} was active during the run`}>
      <figcaption>
        time of activity <span class="faint">{wall ? "running or waiting" : "on-CPU"}</span>
      </figcaption>
      <div>
        <Canvas height={HEIGHT} draw={draw} />
      </div>
      <div class="axis-label ends">
        <span>{moment(0, span)}</span>
        <span>{moment(span, span)}</span>
      </div>
    </figure>
  );
}
