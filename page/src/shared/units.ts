// Numbers as people read them: the same words as the reports have (`crates/report/src/units.rs`).

/** A time to about three digits: `6.25 s`, `52 ms`, `830 µs`, `12 min 5 s`. */
export function time(ns: number): string {
  if (ns < 0) return `−${time(-ns)}`;
  ns = Math.round(ns);
  if (ns === 0) return "0 s";
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 999_500) return scaled(ns / 1e3, "µs");
  if (ns < 999_500_000) return scaled(ns / 1e6, "ms");
  if (ns < 9_995_000_000) return `${(ns / 1e9).toFixed(2)} s`;
  if (ns < 99_950_000_000) return `${(ns / 1e9).toFixed(1)} s`;
  if (ns < 600_000_000_000) return `${(ns / 1e9).toFixed(0)} s`;
  const seconds = Math.round(ns / 1e9);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${count(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

/** A share (1 is all): `96 %`, `2.4 %`. Never rounds up to all nor down to nothing. */
export function share(value: number): string {
  if (!Number.isFinite(value)) return "?";
  // Sums of the same times in another order differ in their last digits.
  const percent = Math.abs(value - 1) < 1e-9 ? 100 : value * 100;
  if (percent <= 0) return "0 %";
  if (percent < 0.05) return "<0.1 %";
  if (percent < 9.95) return `${percent.toFixed(1)} %`;
  if (percent >= 99.5 && percent < 100) return ">99 %";
  return `${percent.toFixed(0)} %`;
}

/** A count with separators between the thousands. */
export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** `1 call`, `51,302 calls`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${Math.round(value) === 1 ? "" : "s"}`;
}

/** Bytes in powers of 1024. */
export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(Math.abs(value) < 10 && !Number.isInteger(value) ? 1 : 0)} ${units[unit]}`;
}

/** A plain number to about three digits. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "?";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e15) return value.toExponential(1);
  if (size >= 100 || Number.isInteger(value)) return (value < 0 ? "-" : "") + count(size);
  if (size >= 10) return value.toFixed(1);
  if (size >= 1) return value.toFixed(2);
  return value.toFixed(size >= 0.1 ? 3 : 4);
}

/** A number in the unit that a fact or a series names. */
export function quantity(value: number, unit: string): string {
  switch (unit) {
    case "ns":
      return time(value);
    case "bytes":
      return bytes(value);
    case "ratio":
      return `${number(value)}×`;
    case "share":
      return share(value);
    case "1":
    case "":
      return number(value);
    case "%":
      return `${number(value)} %`;
    default:
      return `${number(value)} ${unit}`;
  }
}

/** A moment since the start, as fine as a stretch of `span` ns needs it. */
export function moment(ns: number, span: number): string {
  if (span >= 20e9) return `${(ns / 1e9).toFixed(1)} s`;
  if (span >= 1e9) return `${(ns / 1e9).toFixed(2)} s`;
  if (span >= 20e6) return `${(ns / 1e6).toFixed(0)} ms`;
  return `${(ns / 1e6).toFixed(2)} ms`;
}

function scaled(value: number, unit: string): string {
  if (value >= 9.95) return `${value.toFixed(0)} ${unit}`;
  return `${value.toFixed(1).replace(/\.0$/, "")} ${unit}`;
}
