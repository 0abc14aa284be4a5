// The timeline: processes and threads over time, with the findings marked; a range that is dragged out holds in every view.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLooking } from "../context";
import { litStacks, ofFinding } from "../data/lit";
import { type Tip, Tooltip } from "../flame/tooltip";
import { Canvas, colour } from "../shared/canvas";
import { useNarrow } from "../shared/narrow";
import { show, showAll } from "../shared/outside";
import { moment, time } from "../shared/units";
import { asleep, busy } from "./bins";
import { Brush } from "./brush";
import { bundleText } from "./bundles";
import { KINDS } from "./kinds";
import { lanes } from "./lanes";
import { type Colours, LABELS, LANE, Lanes, NARROW_LABELS } from "./paint";
import { Printed } from "./printed";

export function TimelineView() {
  const { recording, state, go, lit, theme, printing } = useLooking();
  const labels = useNarrow() ? NARROW_LABELS : LABELS;
  const [[from, to], setWindow] = useState<[number, number]>([0, recording.span]);
  const every = useMemo(() => new Lanes(recording), [recording]);
  // Only who lived in what is seen.
  const all = useMemo(() => {
    const unit = recording.head.unit_ns;
    const seen = lanes(recording).filter((lane) => lane.end >= from * unit && lane.start <= to * unit);
    return { lanes: seen, paint: every };
  }, [recording, every, from, to]);
  const stacks = useMemo(() => (lit ? litStacks(recording, lit) : null), [recording, lit]);
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  // the theme changes the colours that are read
  const colours = useMemo<Colours>(() => {
    const kinds = Object.fromEntries(KINDS.map((kind) => [kind, colour(`--kind-${kind}`)]));
    return {
      text: colour("--text"),
      faint: colour("--faint"),
      line: colour("--line"),
      on: colour("--on"),
      lit: colour("--lit"),
      ground: colour("--ground"),
      kinds: kinds as Colours["kinds"],
    };
  }, [theme]);
  const draw = useCallback(() => {
    const [box, element] = [host.current, canvas.current];
    const context = element?.getContext("2d");
    if (!box || !element || !context || box.clientWidth === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [box.clientWidth, box.clientHeight];
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    element.style.width = `${width}px`;
    element.style.height = `${height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const size = { width, height, labels };
    all.paint.paint(context, all.lanes, size, box.scrollTop, from, to, colours, state.who, stacks);
  }, [all, labels, from, to, colours, state.who, stacks]);
  useEffect(() => {
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(host.current!);
    return () => observer.disconnect();
  }, [draw]);
  const laneAt = (event: MouseEvent) => {
    const { top } = host.current!.getBoundingClientRect();
    return all.lanes[Math.floor((event.clientY - top + host.current!.scrollTop) / LANE)];
  };
  const click = (event: MouseEvent) => {
    const lane = laneAt(event);
    const { left } = host.current!.getBoundingClientRect();
    if (lane && event.clientX - left < labels) go({ who: state.who === lane.who ? "" : lane.who, zoom: [] });
    else if (state.range) go({ range: null, zoom: [] });
  };
  const hover = (event: MouseEvent) => {
    const lane = laneAt(event);
    const { left, width } = host.current!.getBoundingClientRect();
    if (!lane) return setTip(null);
    const x = event.clientX - left - labels;
    const rows: [string, string][] = [["lifetime", time(lane.end - lane.start)]];
    const process = recording.head.processes[Number(lane.who.slice(1))];
    const where =
      lane.who.startsWith("p") && process ? showAll(process.arguments, " ") : `thread ${lane.detail}`;
    if (x > 0) {
      const per = (to - from) / (width - labels);
      const at = from + x * per;
      const did = all.paint.at(lane, at, Math.max(per * 2, 1500));
      rows.push(["at", moment(at * recording.head.unit_ns, recording.head.span_ns)]);
      const own = did.stack >= 0 ? recording.ownFunctions()[did.stack]! : -1;
      if (own >= 0) rows.push(["on-CPU", recording.name(own)]);
      if (did.call >= 0) {
        const file = recording.head.files[recording.syscalls.file[did.call]!];
        rows.push([
          "system call",
          `${show(recording.head.calls[recording.syscalls.call[did.call]!]!)} ${show(file?.path ?? "")}`,
        ]);
      }
      if (did.bundle >= 0) rows.push(["many calls", bundleText(recording, did.bundle)]);
    }
    const name = lane.who.startsWith("p") ? show(`${lane.label} ${lane.detail}`) : lane.label;
    setTip({ x: event.clientX, y: event.clientY, name, where, rows });
  };
  const zoomed = from > 0 || to < recording.span;
  return (
    <section class="timeline" aria-label="Timeline" style={{ "--labels": `${labels}px` }}>
      <div class="bar">
        <button
          type="button"
          disabled={!state.range}
          onClick={() => state.range && setWindow([...state.range])}
        >
          Zoom to selection
        </button>
        <button type="button" disabled={!zoomed} onClick={() => setWindow([0, recording.span])}>
          Whole run
        </button>
        <ul class="legend" aria-label="Colours">
          <li>
            <i class="on" /> on the CPU
          </li>
          {KINDS.map((kind) => (
            <li key={kind}>
              <i class={`kind-${kind}`} /> {kind === "wait" ? "waiting" : kind}
            </li>
          ))}
          <li title="Calls that were not recorded one by one: as tall as the share of the time that they took">
            <i class="many" /> many calls
          </li>
        </ul>
        <span class="hint">drag: select a range in every view · click a name: select it</span>
      </div>
      <Axis from={from} to={to} />
      <Findings from={from} to={to} />
      <div class="lanes" ref={host} onScroll={draw} onPointerMove={hover} onPointerLeave={() => setTip(null)}>
        <Brush label="Processes and threads" from={from} to={to} indent={labels} onClick={click}>
          <div style={{ height: `${Math.max(1, all.lanes.length) * LANE}px` }}>
            <canvas ref={canvas} class="lanes-canvas" />
          </div>
        </Brush>
      </div>
      {printing && (
        <Printed lanes={all.lanes} painter={every} from={from} to={to} colours={colours} lit={stacks} />
      )}
      <Tooltip tip={tip} />
    </section>
  );
}

function Axis({ from, to }: { from: number; to: number }) {
  const { recording } = useLooking();
  const unit = recording.head.unit_ns;
  const span = (to - from) * unit;
  const step = 10 ** Math.floor(Math.log10(span / 4));
  const nice = [1, 2, 5, 10].map((times) => times * step).find((one) => span / one <= 8) ?? step * 10;
  const ticks: number[] = [];
  for (let at = Math.ceil((from * unit) / nice) * nice; at <= to * unit; at += nice) ticks.push(at);
  return (
    <div class="axis" aria-hidden="true">
      {ticks.map((at) => (
        <span key={at} style={{ left: `${((at - from * unit) / span) * 100}%` }}>
          {moment(at, span)}
        </span>
      ))}
    </div>
  );
}

const BINS = 400;

/** A row for each finding: when what it is about was at work. */
function Findings({ from, to }: { from: number; to: number }) {
  const { recording, state, go, theme } = useLooking();
  const rows = useMemo(
    () =>
      recording.head.findings.findings.map((finding) => {
        const stacks = litStacks(recording, ofFinding(recording, finding));
        const bins = busy(recording, BINS, from, to, null, stacks);
        if (finding.basis === "wall") {
          const off = asleep(recording, BINS, from, to, null, stacks);
          for (let bin = 0; bin < BINS; bin++) bins[bin]! += off[bin]!;
        }
        return { finding, bins };
      }),
    [recording, from, to],
  );
  const painters = useMemo(
    () =>
      rows.map(({ bins }) => (context: CanvasRenderingContext2D, width: number, height: number) => {
        const most = Math.max(1, ...bins);
        context.fillStyle = colour("--lit");
        const wide = width / BINS;
        bins.forEach((ns, bin) => {
          const tall = (ns / most) * (height - 6);
          if (tall > 0.1) context.fillRect(bin * wide, height - 3 - tall, Math.max(1, wide), tall);
        });
      }),
    // the theme changes the colours that are read
    [rows, theme],
  );
  return (
    <div class="markers">
      {rows.map(({ finding }, number) => (
        <button
          type="button"
          key={finding.fingerprint}
          class={state.finding === number ? "marker is-on" : "marker"}
          aria-pressed={state.finding === number}
          onClick={() => go({ finding: state.finding === number ? -1 : number, search: "" })}
        >
          <span class="marker-name" title={`${show(finding.title)}: ${show(finding.function)}`}>
            <b>{number + 1}</b> {show(finding.function)}
          </span>
          <span class="marker-strip">
            <Canvas height={22} draw={painters[number]!} />
          </span>
        </button>
      ))}
    </div>
  );
}
