// Selecting a stretch of time by dragging, or by keys; what lies under it draws itself.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { useLooking } from "../context";
import { moment } from "../shared/units";

export interface BrushProps {
  label: string;
  /** What the width stands for, in the recording's unit of time. */
  from: number;
  to: number;
  children: ComponentChildren;
  class?: string;
  /** Pixels at the left that are no time. */
  indent?: number;
  onClick?(event: MouseEvent): void;
}

export function Brush({ label, from, to, children, class: name, indent = 0, onClick }: BrushProps) {
  const { recording, state, go } = useLooking();
  const box = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const time = (event: PointerEvent) => {
    const { left, width } = box.current!.getBoundingClientRect();
    const share = (event.clientX - left - indent) / (width - indent);
    return Math.round(from + Math.min(1, Math.max(0, share)) * (to - from));
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    box.current!.setPointerCapture(event.pointerId);
    const at = time(event);
    setDrag([at, at]);
  };
  const move = (event: PointerEvent) => {
    if (drag) setDrag([drag[0], time(event)]);
  };
  const up = (event: PointerEvent) => {
    if (!drag) return;
    const [low, high] = [Math.min(...drag), Math.max(...drag)];
    setDrag(null);
    const { width } = box.current!.getBoundingClientRect();
    // Less than a few pixels is a click.
    if ((high - low) / (to - from) > 4 / width) go({ range: [low, high], zoom: [] });
    else if (onClick) onClick(event);
    else if (state.range) go({ range: null, zoom: [] });
  };
  const key = (event: KeyboardEvent) => {
    const step = Math.max(1, Math.round((to - from) / 20));
    const [low, high] = state.range ?? [from, to];
    let range: readonly [number, number] | null = null;
    if (event.key === "ArrowRight" && event.shiftKey) range = [low, Math.min(recording.span, high + step)];
    else if (event.key === "ArrowLeft" && event.shiftKey) range = [low, Math.max(low + 1, high - step)];
    else if (event.key === "ArrowRight")
      range = state.range ? [low + step, high + step] : [from, from + step];
    else if (event.key === "ArrowLeft") range = state.range ? [low - step, high - step] : [to - step, to];
    else if (event.key === "Escape" && state.range) {
      go({ range: null, zoom: [] });
      event.preventDefault();
      return;
    } else return;
    event.preventDefault();
    if (range[0] < 0 || range[1] > recording.span || range[1] <= range[0]) return;
    go({ range: [range[0], range[1]], zoom: [] }, true);
  };
  const shown = drag ? ([Math.min(...drag), Math.max(...drag)] as const) : state.range;
  const percent = (at: number) => ((Math.min(to, Math.max(from, at)) - from) / (to - from)) * 100;
  const unit = recording.head.unit_ns;
  const said = shown
    ? `${moment(shown[0] * unit, recording.head.span_ns)} to ${moment(shown[1] * unit, recording.head.span_ns)}`
    : "all";
  return (
    <div
      class={`brush ${name ?? ""}`}
      ref={box}
      role="slider"
      tabIndex={0}
      aria-label={`${label}. Drag or use arrow keys to select a time range; Escape selects all.`}
      aria-valuemin={0}
      aria-valuemax={recording.span}
      aria-valuenow={shown?.[0] ?? 0}
      aria-valuetext={said}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={() => setDrag(null)}
      onKeyDown={key}
    >
      {children}
      {shown && (shown[0] > from || shown[1] < to) && (
        <div class="brush-frame" style={{ left: `${indent}px` }}>
          <div class="brush-shade" style={{ left: 0, width: `${percent(shown[0])}%` }} />
          <div class="brush-shade" style={{ left: `${percent(shown[1])}%`, right: 0 }} />
          <div
            class="brush-range"
            style={{ left: `${percent(shown[0])}%`, width: `${percent(shown[1]) - percent(shown[0])}%` }}
          />
        </div>
      )}
    </div>
  );
}
