// A canvas as wide as its place, drawn anew whenever that or what it draws changes.

import { useLayoutEffect, useRef } from "preact/hooks";

export interface CanvasProps {
  height: number;
  class?: string;
  draw(context: CanvasRenderingContext2D, width: number, height: number): void;
}

export function Canvas({ height, draw, class: name }: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const element = canvas.current!;
    const paint = () => {
      const width = element.parentElement!.clientWidth;
      const context = element.getContext("2d");
      if (!context || width === 0) return;
      const ratio = window.devicePixelRatio || 1;
      element.width = Math.round(width * ratio);
      element.height = Math.round(height * ratio);
      element.style.width = `${width}px`;
      element.style.height = `${height}px`;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      draw(context, width, height);
    };
    paint();
    const observer = new ResizeObserver(paint);
    observer.observe(element.parentElement!);
    return () => observer.disconnect();
  }, [draw, height]);
  return <canvas ref={canvas} class={name} />;
}

/** A colour of the style sheet, by the name of its property. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
