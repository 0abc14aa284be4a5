// Contrast of two colours, as WCAG 2 has it: 1 to 21.

import { rgb } from "../src/flame/colours";

export function contrast(a: string, b: string): number {
  const light = (colour: string) => {
    const [red, green, blue] = rgb(colour).map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [high, low] = [light(a), light(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}
