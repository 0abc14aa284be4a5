// Draws the visible part of a tree on a canvas. A row costs as many steps as it has pixels, however many frames it has.

import { INLINED } from "../data/recording";
import type { Shown } from "../shared/outside";
import type { Tree } from "../tree/tree";

export const ROW = 20;

/** What part of a tree is seen. */
export interface Window {
  /** From and to, ns from the tree's left. */
  from: number;
  to: number;
  /** Pixels. */
  width: number;
  height: number;
  /** Pixels of rows above the upper edge. */
  scroll: number;
  /** Callees above their callers. */
  upward: boolean;
  /** Height of all rows, pixels. */
  whole: number;
}

/** How it looks. */
export interface Look {
  colour(node: number, faded: boolean): string;
  name(node: number): Shown;
  text: string;
  ground: string;
  accent: string;
  /** Font and width of one of its letters, pixels. */
  font: string;
  letter: number;
  /** One byte a function: 1 is lit; null if nothing is, and so nothing is faded. */
  lit: Uint8Array | null;
  /** Functions that are not lit, but not faded either. */
  path: ReadonlySet<number>;
  /** Frames of a difference that are on one side only are hatched. */
  hatched?(node: number): boolean;
}

/** The first of a row's nodes that ends behind `x`. */
function firstBehind(tree: Tree, row: number, x: number, low: number): number {
  let high = tree.rowStart[row + 1]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const node = tree.rowNodes[middle]!;
    if (tree.start[node]! + tree.total[node]! <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The pixel of a row's upper edge. */
export function top(window: Window, row: number): number {
  const y = window.upward ? window.whole - (row + 1) * ROW : row * ROW;
  return y - window.scroll;
}

/** The row at a pixel, which may be none of the tree's. */
export function rowAt(window: Window, y: number): number {
  const from = y + window.scroll;
  return Math.floor((window.upward ? window.whole - from : from) / ROW);
}

/** The node at a pixel; -1 for none. */
export function nodeUnder(tree: Tree, window: Window, x: number, y: number): number {
  const row = rowAt(window, y);
  if (row < 0 || row >= tree.rows) return -1;
  const at = window.from + ((window.to - window.from) * x) / window.width;
  const index = firstBehind(tree, row, at, tree.rowStart[row]!);
  if (index >= tree.rowStart[row + 1]!) return -1;
  const node = tree.rowNodes[index]!;
  return tree.start[node]! <= at ? node : -1;
}

/** Draws; returns how many rectangles it took. */
export function paint(canvas: CanvasRenderingContext2D, tree: Tree, window: Window, look: Look): number {
  canvas.fillStyle = look.ground;
  canvas.fillRect(0, 0, window.width, window.height);
  canvas.font = look.font;
  canvas.textBaseline = "middle";
  const scale = window.width / (window.to - window.from);
  let drawn = 0;
  let style = look.ground;
  const fill = (colour: string, x: number, y: number, wide: number) => {
    if (colour !== style) {
      canvas.fillStyle = colour;
      style = colour;
    }
    canvas.fillRect(x, y, wide, ROW - 1);
    drawn++;
  };
  const outlined: [number, number, number, number][] = [];
  for (let row = 0; row < tree.rows; row++) {
    const y = top(window, row);
    if (y + ROW <= 0 || y >= window.height) continue;
    const end = tree.rowStart[row + 1]!;
    let index = firstBehind(tree, row, window.from, tree.rowStart[row]!);
    while (index < end) {
      const node = tree.rowNodes[index]!;
      const left = (tree.start[node]! - window.from) * scale;
      if (left >= window.width) break;
      const right = left + tree.total[node]! * scale;
      const fn = tree.fn[node]!;
      const lit = look.lit !== null && look.lit[fn] === 1;
      const faded = look.lit !== null && !lit && node > 0 && !look.path.has(fn);
      if (right - left < 1) {
        // Too narrow to be told apart: one pixel for all that is in it, lit if one of them is.
        const pixel = Math.floor(left);
        const behind = window.from + (pixel + 1) / scale;
        let next = firstBehind(tree, row, behind, index);
        if (next === index) next++;
        let shown = node;
        let any = lit;
        for (let i = index; look.lit !== null && !any && i < Math.min(next, index + 64); i++) {
          const other = tree.rowNodes[i]!;
          if (look.lit[tree.fn[other]!] === 1) {
            any = true;
            shown = other;
          }
        }
        fill(look.colour(shown, look.lit !== null && !any), pixel, y, 1);
        index = next;
        continue;
      }
      // Whole pixels: sharper, and quicker to draw.
      const x = Math.round(Math.max(0, left));
      const wide = Math.max(1, Math.round(Math.min(window.width, right)) - x);
      // A gap between neighbours, as soon as there is room for one.
      const gap = wide >= 3 ? 1 : 0;
      fill(look.colour(node, faded), x, y, wide - gap);
      if (look.hatched?.(node) && wide > 4) hatch(canvas, x, y, wide - gap, look.text);
      if (tree.kind[node] === INLINED && wide > 5) {
        canvas.strokeStyle = look.text;
        canvas.globalAlpha = 0.55;
        canvas.setLineDash([3, 2]);
        canvas.strokeRect(x + 1, y + 1, wide - gap - 2, ROW - 3);
        canvas.setLineDash([]);
        canvas.globalAlpha = 1;
      }
      if (lit && wide > 2) outlined.push([x, y, wide - gap, ROW - 1]);
      const letters = Math.floor((wide - 8) / look.letter);
      if (letters >= 3) {
        const name = look.name(node);
        canvas.fillStyle = look.text;
        style = look.text;
        const shown = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
        canvas.fillText(shown, x + 4, y + (ROW - 1) / 2 + 0.5, wide - 6);
      }
      index++;
    }
  }
  // Over their neighbours, and seen without colour.
  canvas.strokeStyle = look.accent;
  canvas.lineWidth = 2;
  for (const [x, y, wide, high] of outlined) canvas.strokeRect(x + 1, y + 1, Math.max(1, wide - 2), high - 2);
  canvas.lineWidth = 1;
  return drawn;
}

/** Frames around which a line is drawn: the selected one, the one under the pointer. */
export function frame(
  canvas: CanvasRenderingContext2D,
  tree: Tree,
  window: Window,
  node: number,
  colour: string,
  thick: number,
): void {
  const scale = window.width / (window.to - window.from);
  const x = Math.max(0, (tree.start[node]! - window.from) * scale);
  const right = Math.min(window.width, (tree.start[node]! + tree.total[node]! - window.from) * scale);
  const y = top(window, tree.depth[node]!);
  if (right < 0 || x > window.width || y + ROW < 0 || y > window.height) return;
  canvas.strokeStyle = colour;
  canvas.lineWidth = thick;
  const inset = thick / 2;
  canvas.strokeRect(x + inset, y + inset, Math.max(1, right - x - thick), ROW - 1 - thick);
  canvas.lineWidth = 1;
}

function hatch(canvas: CanvasRenderingContext2D, x: number, y: number, wide: number, colour: string): void {
  canvas.save();
  canvas.beginPath();
  canvas.rect(x, y, wide, ROW - 1);
  canvas.clip();
  canvas.globalAlpha = 0.22;
  canvas.strokeStyle = colour;
  canvas.beginPath();
  for (let at = Math.floor((x - ROW) / 7) * 7; at < x + wide; at += 7) {
    canvas.moveTo(at, y + ROW);
    canvas.lineTo(at + ROW, y);
  }
  canvas.stroke();
  canvas.restore();
}
