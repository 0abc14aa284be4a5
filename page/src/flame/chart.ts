// The flame graph's canvas: zoom, scroll, pointer and keys. What is drawn where is `paint.ts`'s.

import type { Tree } from "../tree/tree";
import { frame, type Look, nodeUnder, paint, ROW, top, type Window } from "./paint";

/** How long a zoom moves, ms; not at all for those who want no motion. */
const GLIDE = 140;

export interface Handlers {
  /** A node was selected: by pointer or key. */
  select(node: number): void;
  /** It is to fill the width. */
  zoom(node: number): void;
  /** The pointer is over a node, or over none (-1). */
  hover(node: number, x: number, y: number): void;
  /** A key that the canvas does not know. */
  key(event: KeyboardEvent, node: number): void;
}

export class Chart {
  private tree: Tree | null = null;
  private look: Look | null = null;
  private upward = false;
  private from = 0;
  private to = 1;
  private goal: [number, number] = [0, 1];
  private zoomed = 0;
  private hovered = -1;
  selected = 0;
  private pending = 0;
  private readonly canvas: HTMLCanvasElement;
  private readonly room: HTMLElement;
  private readonly observer: ResizeObserver;

  constructor(
    private readonly host: HTMLElement,
    private readonly handlers: Handlers,
  ) {
    this.room = document.createElement("div");
    this.canvas = document.createElement("canvas");
    this.canvas.className = "flame-canvas";
    this.room.append(this.canvas);
    host.append(this.room);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(host);
    host.addEventListener("scroll", () => this.redraw());
    this.canvas.addEventListener("pointermove", (event) => this.moved(event));
    this.canvas.addEventListener("pointerleave", () => this.leave());
    this.canvas.addEventListener("click", (event) => this.clicked(event));
    host.addEventListener("keydown", (event) => this.pressed(event));
    host.addEventListener("focus", () => this.redraw());
    host.addEventListener("blur", () => this.redraw());
  }

  close(): void {
    this.observer.disconnect();
    cancelAnimationFrame(this.pending);
    this.room.remove();
  }

  /** Shows a tree, zoomed to a node. Of the same tree as before only the zoom moves. */
  show(tree: Tree, look: Look, upward: boolean, zoomed: number): void {
    const same = tree === this.tree && upward === this.upward;
    this.tree = tree;
    this.look = look;
    this.upward = upward;
    this.zoomed = zoomed;
    if (!same) this.hovered = -1;
    if (this.selected >= tree.count || !same) this.selected = zoomed;
    const start = tree.start[zoomed] ?? 0;
    const total = tree.total[zoomed] || 1;
    this.goal = [start, start + total];
    this.resized();
    if (!same || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      [this.from, this.to] = this.goal;
      if (!same) this.host.scrollTop = upward ? this.room.offsetHeight : 0;
      // At once, in the same frame as the event that asked for it.
      cancelAnimationFrame(this.pending);
      this.draw();
    } else this.glide();
  }

  private glide(): void {
    const [from, to] = [this.from, this.to];
    const begun = performance.now();
    const step = (now: number) => {
      const done = Math.min(1, Math.max(0, now - begun) / GLIDE);
      const eased = 1 - (1 - done) ** 3;
      this.from = from + (this.goal[0] - from) * eased;
      this.to = to + (this.goal[1] - to) * eased;
      this.draw();
      if (done < 1) this.pending = requestAnimationFrame(step);
    };
    cancelAnimationFrame(this.pending);
    this.pending = requestAnimationFrame(step);
  }

  private whole(): number {
    return Math.max(1, this.tree?.rows ?? 1) * ROW;
  }

  private window(): Window {
    return {
      from: this.from,
      to: this.to,
      width: this.host.clientWidth,
      height: this.host.clientHeight,
      scroll: this.host.scrollTop,
      upward: this.upward,
      whole: Math.max(this.whole(), this.upward ? this.host.clientHeight : 0),
    };
  }

  private resized(): void {
    this.room.style.height = `${Math.max(this.whole(), this.host.clientHeight)}px`;
    const ratio = window.devicePixelRatio || 1;
    // The canvas is as large as what is seen of it, never as the tree: browsers have limits.
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    if (
      this.canvas.width !== Math.round(width * ratio) ||
      this.canvas.height !== Math.round(height * ratio)
    ) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.redraw();
  }

  redraw(): void {
    cancelAnimationFrame(this.pending);
    this.pending = requestAnimationFrame(() => {
      if (this.from !== this.goal[0] || this.to !== this.goal[1]) this.glide();
      else this.draw();
    });
  }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    if (!context || !this.tree || !this.look || this.host.clientWidth === 0) return;
    const begun = performance.now();
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const view = this.window();
    paint(context, this.tree, view, this.look);
    if (this.hovered >= 0) frame(context, this.tree, view, this.hovered, this.look.text, 1);
    if (document.activeElement === this.host || this.selected > 0) {
      frame(context, this.tree, view, this.selected, this.look.text, 2);
    }
    // How long it took, ms, and when it was done first: tests and the benchmark read it.
    if (this.host.dataset.painted === undefined) performance.mark("flame graph");
    this.host.dataset.painted = (performance.now() - begun).toFixed(2);
  }

  private at(event: MouseEvent): number {
    if (!this.tree) return -1;
    const box = this.canvas.getBoundingClientRect();
    return nodeUnder(this.tree, this.window(), event.clientX - box.left, event.clientY - box.top);
  }

  private moved(event: PointerEvent): void {
    const node = this.at(event);
    this.handlers.hover(node, event.clientX, event.clientY);
    this.canvas.style.cursor = node >= 0 ? "pointer" : "default";
    if (node === this.hovered) return;
    this.hovered = node;
    this.redraw();
  }

  private leave(): void {
    this.hovered = -1;
    this.handlers.hover(-1, 0, 0);
    this.redraw();
  }

  private clicked(event: MouseEvent): void {
    const node = this.at(event);
    this.host.focus({ preventScroll: true });
    if (node < 0) return;
    this.choose(node);
    this.handlers.zoom(node);
  }

  private choose(node: number): void {
    this.selected = node;
    this.handlers.select(node);
    this.redraw();
  }

  private pressed(event: KeyboardEvent): void {
    const tree = this.tree;
    if (!tree || event.ctrlKey || event.metaKey || event.altKey) return;
    const inward = this.upward ? "ArrowUp" : "ArrowDown";
    const outward = this.upward ? "ArrowDown" : "ArrowUp";
    const at = this.selected;
    let to = at;
    switch (event.key) {
      case inward:
        if (tree.next[at]! > at + 1) to = at + 1;
        break;
      case outward:
        to = Math.max(0, tree.parent[at]!);
        break;
      case "ArrowRight":
        to = this.beside(1);
        break;
      case "ArrowLeft":
        to = this.beside(-1);
        break;
      case "Home":
        to = 0;
        this.handlers.zoom(0);
        break;
      case "Enter":
      case " ":
        this.handlers.zoom(at);
        break;
      case "Escape":
      case "Backspace":
        to = Math.max(0, tree.parent[this.zoomed]!);
        this.handlers.zoom(to);
        break;
      default:
        this.handlers.key(event, at);
        return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (to !== at || event.key.startsWith("Arrow")) {
      this.choose(to);
      this.reveal(to);
    }
  }

  /** The neighbour in the same row. */
  private beside(step: number): number {
    const tree = this.tree!;
    const row = tree.depth[this.selected]!;
    let low = tree.rowStart[row]!;
    let high = tree.rowStart[row + 1]! - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (tree.rowNodes[middle]! < this.selected) low = middle + 1;
      else high = middle;
    }
    const to = Math.min(tree.rowStart[row + 1]! - 1, Math.max(tree.rowStart[row]!, low + step));
    return tree.rowNodes[to]!;
  }

  /** Scrolls to a node, and outwards if it is not within what is zoomed to. */
  private reveal(node: number): void {
    const tree = this.tree!;
    const y = top(this.window(), tree.depth[node]!);
    if (y < 0) this.host.scrollTop += y;
    else if (y + ROW > this.host.clientHeight) this.host.scrollTop += y + ROW - this.host.clientHeight;
    const [from, to] = this.goal;
    const middle = tree.start[node]! + tree.total[node]! / 2;
    if (middle < from || middle > to) this.handlers.zoom(0);
  }
}
