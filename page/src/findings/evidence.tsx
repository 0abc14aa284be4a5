// Evidence that the page draws itself from the recording, for causes whose findings bring no series: processes, calls a second.

import { useCallback, useMemo } from "preact/hooks";
import { useLooking } from "../context";
import type { Finding } from "../data/head";
import { litStacks, ofFinding } from "../data/lit";
import { programName } from "../data/process";
import { Canvas, colour } from "../shared/canvas";
import { show } from "../shared/outside";
import { count, moment, number } from "../shared/units";
import { calls } from "../timeline/bins";

/** Causes that are about processes. */
const PROCESSES = new Set(["process-per-operation", "duplicate-build"]);
/** Causes that are about system calls. */
const CALLS = new Set([
  "redundant-file-access",
  "small-io",
  "failed-lookups",
  "sync-per-operation",
  "rewritten-file",
]);

export function Evidence({ finding }: { finding: Finding }) {
  if (PROCESSES.has(finding.cause)) return <Processes />;
  if (CALLS.has(finding.cause) && finding.lit.guilty.length > 0) return <CallRate finding={finding} />;
  return null;
}

function Ends() {
  const { recording } = useLooking();
  const span = recording.head.span_ns;
  return (
    <div class="axis-label ends">
      <span>{moment(0, span)}</span>
      <span>{moment(span, span)}</span>
    </div>
  );
}

/** Every process as a line from its start to its end, one below the other. */
function Processes() {
  const { recording, theme } = useLooking();
  const { processes, span_ns } = recording.head;
  const order = useMemo(() => [...processes].sort((a, b) => a.start_ns - b.start_ns), [processes]);
  // The theme changes the colours that are read.
  const draw = useCallback(
    (context: CanvasRenderingContext2D, width: number, height: number) => {
      const each = height / order.length;
      const main = order[0] ? programName(order[0].program) : "";
      order.forEach((process, i) => {
        const x = (process.start_ns / span_ns) * width;
        const end = ((process.end_ns ?? span_ns) / span_ns) * width;
        context.fillStyle = colour(programName(process.program) === main ? "--faint" : "--kind-process");
        context.fillRect(x, i * each, Math.max(1.5, end - x), Math.max(1.5, Math.min(6, each - 1)));
      });
    },
    [order, span_ns, theme],
  );
  return (
    <figure class="plot" aria-label={`${count(order.length)} processes, each from its start to its end`}>
      <figcaption>
        processes <span class="faint">each of {count(order.length)} from its start to its end</span>
      </figcaption>
      <div>
        <Canvas height={150} draw={draw} />
      </div>
      <Ends />
    </figure>
  );
}

const BINS = 100;

/** System calls that the guilty function makes, a second. */
function CallRate({ finding }: { finding: Finding }) {
  const { recording, theme } = useLooking();
  const bins = useMemo(() => {
    const stacks = litStacks(recording, ofFinding(recording, finding));
    return calls(recording, BINS, 0, recording.span, stacks);
  }, [recording, finding]);
  const most = Math.max(...bins);
  const seconds = recording.head.span_ns / 1e9 / BINS;
  // The theme changes the colours that are read.
  const draw = useCallback(
    (context: CanvasRenderingContext2D, width: number, height: number) => {
      context.fillStyle = colour("--line");
      context.fillRect(0, height - 1, width, 1);
      context.fillStyle = colour("--cost");
      const wide = width / BINS;
      bins.forEach((value, bin) => {
        const tall = (value / Math.max(1, most)) * (height - 2);
        if (tall > 0.1) context.fillRect(bin * wide, height - 1 - tall, Math.max(1, wide - 1), tall);
      });
    },
    [bins, most, theme],
  );
  if (most === 0) return null;
  const rate = `up to ${number(most / seconds)} a second`;
  return (
    <figure class="plot" aria-label={`System calls under ${show(finding.function)} over time, ${rate}`}>
      <figcaption>
        system calls from there <span class="faint">{rate}</span>
      </figcaption>
      <div>
        <Canvas height={110} draw={draw} />
      </div>
      <Ends />
    </figure>
  );
}
