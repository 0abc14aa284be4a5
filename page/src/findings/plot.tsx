// A series of a finding as a plot: its points, and the fit through them.

import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { useLooking } from "../context";
import type { Series } from "../data/head";
import { show } from "../shared/outside";
import { number, quantity } from "../shared/units";

const HEIGHT = 170;

export function Plot({ series }: { series: Series }) {
  const { theme } = useLooking();
  const host = useRef<HTMLDivElement>(null);
  const said = useRef<HTMLDivElement>(null);
  const [name, across, up, unit] = [
    show(series.name),
    show(series.x_label),
    show(series.y_label),
    show(series.y_unit),
  ];
  useLayoutEffect(() => {
    const element = host.current!;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    // uPlot wants rising x; what the detector sends need not be.
    const order = series.x.map((_, i) => i).sort((a, b) => series.x[a]! - series.x[b]!);
    const by = (values: number[]) => order.map((i) => values[i]!);
    const fitted = series.fit.length === series.x.length;
    const data = [by(series.x), by(series.y), ...(fitted ? [by(series.fit)] : [])] as uPlot.AlignedData;
    const axis = {
      stroke: colour("--faint"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
    };
    const plot = new uPlot(
      {
        width: Math.max(200, element.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        padding: [8, 10, 0, 0],
        cursor: { drag: { x: false, y: false }, points: { size: 8 } },
        scales: { x: { time: false }, y: { range: (_, min, max) => [Math.min(0, min), max * 1.06 || 1] } },
        series: [
          {},
          {
            stroke: colour("--cost"),
            fill: "transparent",
            paths: () => null,
            points: { show: true, size: 5, fill: colour("--cost"), stroke: colour("--cost") },
          },
          ...(fitted
            ? [{ stroke: colour("--text"), width: 1.5, dash: [6, 4], points: { show: false } }]
            : []),
        ],
        axes: [
          { ...axis, size: 28, values: (_: uPlot, ticks: number[]) => ticks.map((tick) => number(tick)) },
          {
            ...axis,
            size: 64,
            values: (_: uPlot, ticks: number[]) => ticks.map((tick) => quantity(tick, unit)),
          },
        ],
        hooks: {
          setCursor: [
            (of: uPlot) => {
              const at = of.cursor.idx;
              if (!said.current) return;
              said.current.textContent =
                at === null || at === undefined
                  ? across
                  : `${across} ${number(data[0][at]!)}: ${quantity(data[1]![at] as number, unit)}`;
            },
          ],
        },
      },
      data,
      element,
    );
    const observer = new ResizeObserver(() =>
      plot.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
    // The theme changes the colours that are read from the style.
  }, [series, theme]);
  const last = series.y.length - 1;
  const ends = last >= 0 ? `from ${quantity(series.y[0]!, unit)} to ${quantity(series.y[last]!, unit)}` : "";
  return (
    <figure class="plot" aria-label={`${name}: ${up} against ${across}, ${ends}`}>
      <figcaption>
        {name}
        {/* Most say the same twice. */}
        {up.slice(0, 6) !== name.slice(0, 6) && <span class="faint"> {up}</span>}
      </figcaption>
      <div ref={host} />
      <div class="axis-label" ref={said}>
        {across}
      </div>
    </figure>
  );
}
