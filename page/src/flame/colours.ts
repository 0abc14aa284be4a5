// Colours of frames: one hue a module, the same in every page, from palettes that people with any colour vision can tell apart.
//
// Hues are those of Paul Tol's schemes (https://personal.sros.nl/~pault/), paler on light ground and darker on dark. Text has a contrast
// of 4.5 and more on every colour, which a test holds.

import { NO_STACK, type Recording } from "../data/recording";
import { show } from "../shared/outside";

export type Theme = "light" | "dark";

/** What the recorded program's own code has, in every page. */
const PROGRAM = { light: "#ee9a78", dark: "#8f4527" };
/** What the kernel has. */
const SYSTEM = { light: "#c9ced6", dark: "#4b525d" };
/** Modules share these by their names. */
const MODULES = {
  light: ["#8fb8e6", "#a3dcf5", "#6fcbb0", "#cbd584", "#eedd9a", "#f7b6c5", "#c9b4e8", "#d6c3ae"],
  dark: ["#2f5f97", "#1b667e", "#1c6a58", "#58652a", "#75622a", "#87425a", "#64509a", "#685646"],
};

export const TEXT = { light: "#16191f", dark: "#f4f5f7" };
export const GROUND = { light: "#ffffff", dark: "#14171c" };

/** A number that stays the same for a text: FNV-1a. */
export function hash(text: string): number {
  let value = 0x811c_9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x0100_0193);
  // The low bits of similar names differ little: mix them.
  value ^= value >>> 15;
  value = Math.imul(value, 0x2c1b_3c6d);
  return (value ^ (value >>> 12)) >>> 0;
}

/** A library's name without its version, so that an update changes no colour. */
export function unversioned(module: string): string {
  const at = module.indexOf(".so");
  return at < 0 ? module : module.slice(0, at);
}

type Rgb = [number, number, number];

export function rgb(colour: string): Rgb {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** A colour between two: 0 is the first. */
export function between(a: string, b: string, share: number): string {
  const [from, to] = [rgb(a), rgb(b)];
  const mixed = from.map((part, i) => Math.round(part + (to[i]! - part) * share));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** The base colour of a module. */
export function moduleColour(role: string, name: string, theme: Theme): string {
  if (role === "kernel") return SYSTEM[theme];
  if (role === "program") return PROGRAM[theme];
  const palette = MODULES[theme];
  return palette[hash(unversioned(name)) % palette.length]!;
}

/** Shades by which functions of one module differ: towards the ground. */
const SHADES = [0, 0.1, 0.2];

/** The colour of every function, and those of everything that is faded because something else is lit. */
export class Colours {
  private readonly full: string[] = [];
  private readonly faded: string[] = [];

  constructor(
    recording: Recording,
    readonly theme: Theme,
  ) {
    const ground = GROUND[theme];
    for (let fn = 0; fn < recording.functions; fn++) {
      const module = recording.module(fn);
      const system = recording.isSystemCall(fn) || recording.isKernel(fn);
      const role = system ? "kernel" : (module?.role ?? "library");
      const base = moduleColour(role, show(module?.name ?? ""), theme);
      const shade = SHADES[hash(recording.name(fn)) % SHADES.length]!;
      const colour = between(base, ground, shade);
      this.full.push(colour);
      this.faded.push(between(colour, ground, 0.6));
    }
  }

  of(fn: number, faded: boolean): string {
    const known = (faded ? this.faded : this.full)[fn];
    if (known) return known;
    const rest = between(SYSTEM[this.theme], GROUND[this.theme], fn === NO_STACK ? 0.2 : 0.45);
    return faded ? between(rest, GROUND[this.theme], 0.6) : rest;
  }
}

/** Where a difference goes: 0 is as before, 1 is only after, -1 only before. Blue and orange are told apart by everyone. */
export function changeColour(change: number, theme: Theme): string {
  const none = theme === "light" ? "#e8eaee" : "#343a43";
  const more = theme === "light" ? "#e8875a" : "#a34d22";
  const less = theme === "light" ? "#79aede" : "#2c639f";
  const strength = Math.min(1, Math.abs(change)) ** 0.6;
  return between(none, change > 0 ? more : less, strength);
}
