// One flame graph as a component: the canvas with its tooltip. Which tree, and what a click means, is its user's.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLooking } from "../context";
import type { Shown } from "../shared/outside";
import type { Tree } from "../tree/tree";
import { Chart, type Handlers } from "./chart";
import { GROUND, TEXT } from "./colours";
import { type Look, ROW } from "./paint";
import { Printed } from "./printed";
import { type Tip, Tooltip } from "./tooltip";

const FONT = "12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/** Width of a letter of the canvas's font, pixels. */
let letter = 0;
function letterWidth(): number {
  if (letter === 0) {
    const context = document.createElement("canvas").getContext("2d");
    if (context) context.font = FONT;
    letter = context ? context.measureText("MMMMMMMMMM").width / 10 : 7.3;
  }
  return letter;
}

export interface GraphProps {
  tree: Tree;
  upward: boolean;
  zoomed: number;
  /** No taller than its rows. */
  fit?: boolean;
  label: string;
  name(node: number): Shown;
  colour(node: number, faded: boolean): string;
  hatched?(node: number): boolean;
  tip(node: number): Omit<Tip, "x" | "y">;
  onSelect(node: number): void;
  onZoom(node: number): void;
  onKey(event: KeyboardEvent, node: number): void;
}

export function Graph(props: GraphProps) {
  const { theme, lit, printing } = useLooking();
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  const current = useRef(props);
  current.current = props;
  const { tree, name, colour, hatched } = props;
  const look = useMemo<Look>(
    () => ({
      colour,
      name,
      text: TEXT[theme],
      ground: GROUND[theme],
      accent: theme === "light" ? "#8a1c5a" : "#ffd24d",
      font: FONT,
      letter: letterWidth(),
      lit: lit?.functions ?? null,
      path: lit?.path ?? new Set(),
      ...(hatched ? { hatched } : {}),
    }),
    [theme, lit, colour, name, hatched],
  );
  useLayoutEffect(() => {
    const handlers: Handlers = {
      select: (node) => current.current.onSelect(node),
      zoom: (node) => current.current.onZoom(node),
      key: (event, node) => current.current.onKey(event, node),
      hover: (node, x, y) => setTip(node < 0 ? null : { x, y, ...current.current.tip(node) }),
    };
    const made = new Chart(host.current!, handlers);
    chart.current = made;
    return () => made.close();
  }, []);
  useLayoutEffect(() => {
    chart.current?.show(tree, look, props.upward, props.zoomed);
  }, [tree, look, props.upward, props.zoomed]);
  return (
    <>
      <div
        class="flame-host"
        style={props.fit ? { maxHeight: `${tree.rows * ROW}px` } : {}}
        ref={host}
        tabIndex={0}
        role="application"
        aria-label={props.label}
      />
      {printing && <Printed tree={tree} look={look} upward={props.upward} zoomed={props.zoomed} />}
      <Tooltip tip={tip} />
    </>
  );
}
