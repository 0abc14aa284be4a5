// The whole run in one strip above every view: how busy it was, and where what is lit was at work.

import { useCallback, useMemo } from "preact/hooks";
import { useLooking } from "../context";
import { litStacks } from "../data/lit";
import { threadsOf } from "../selection";
import { Canvas, colour } from "../shared/canvas";
import { asleep, busy } from "./bins";
import { Brush } from "./brush";

const BINS = 600;
const HEIGHT = 34;

export function Overview() {
  const { recording, state, lit, theme } = useLooking();
  const threads = useMemo(() => threadsOf(recording, state.who), [recording, state.who]);
  const off = state.metric === "off";
  const bins = useMemo(() => {
    const of = off ? asleep : busy;
    return of(recording, BINS, 0, recording.span, threads);
  }, [recording, threads, off]);
  const marked = useMemo(() => {
    if (!lit) return null;
    return (off ? asleep : busy)(recording, BINS, 0, recording.span, threads, litStacks(recording, lit));
  }, [recording, threads, off, lit]);
  // the theme changes the colours that are read
  const draw = useCallback(
    (context: CanvasRenderingContext2D, width: number, height: number) => {
      const most = Math.max(1, ...bins);
      const area = (values: Float64Array, fill: string) => {
        context.fillStyle = fill;
        for (let x = 0; x < width; x++) {
          const low = Math.floor((x / width) * BINS);
          const high = Math.max(low + 1, Math.floor(((x + 1) / width) * BINS));
          let value = 0;
          for (let bin = low; bin < high && bin < BINS; bin++) value = Math.max(value, values[bin]!);
          const tall = (value / most) * (height - 3);
          if (tall > 0.2) context.fillRect(x, height - tall, 1, tall);
        }
      };
      area(bins, colour(off ? "--off" : "--on"));
      context.globalAlpha = 0.6;
      if (marked) area(marked, colour("--lit"));
      context.globalAlpha = 1;
    },
    [bins, marked, off, theme],
  );
  return (
    <Brush label="The run over time" from={0} to={recording.span} class="overview">
      <Canvas height={HEIGHT} draw={draw} />
    </Brush>
  );
}
