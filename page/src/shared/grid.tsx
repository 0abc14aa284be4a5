// A sortable table of many rows: only those that are seen are in the document.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLooking } from "../context";
import { useNarrow } from "./narrow";
import type { Outside } from "./outside";
import { count } from "./units";

export interface Column<R> {
  name: string;
  title?: string;
  /** What it is sorted by. */
  value(row: R): number | string;
  text(row: R): string;
  /** A share (0 to 1) that is drawn behind the text. */
  bar?(row: R): number;
  /** To the left, and sorted upwards first. */
  words?: boolean;
  /** How much of the width that numbers leave it takes, beside other words: 1 if not said. */
  wide?: number;
  code?: boolean;
}

export interface GridProps<R> {
  label: string;
  rows: R[];
  columns: Column<R>[];
  /** The column that it is sorted by at first. */
  sort: string;
  id(row: R): number | string | Outside;
  selected?: number | string;
  lit?(row: R): boolean;
  choose?(row: R): void;
}

const ROW = 26;
const SPARE = 8;
/** So many rows are printed at most. */
const PRINTED = 2000;

/** The columns with the one that names the row in front, where it stays while the others are scrolled. */
export function nameFirst<R>(columns: Column<R>[]): Column<R>[] {
  const wide = (column: Column<R>) => (column.words ? (column.wide ?? 1) : 0);
  const most = Math.max(...columns.map(wide));
  const name = columns.find((column) => wide(column) === most)!;
  return [name, ...columns.filter((column) => column !== name)];
}

export function Grid<R>({ label, rows, columns: all, sort, id, selected, lit, choose }: GridProps<R>) {
  const narrow = useNarrow();
  const columns = narrow ? nameFirst(all) : all;
  const { printing } = useLooking();
  const [by, setBy] = useState({ name: sort, up: columns.find((one) => one.name === sort)?.words ?? false });
  const [seen, setSeen] = useState<[number, number]>([0, 60]);
  const box = useRef<HTMLDivElement>(null);
  const sorted = useMemo(() => {
    const column = columns.find((one) => one.name === by.name) ?? columns[0]!;
    const values = new Map(rows.map((row) => [row, column.value(row)]));
    const compare = (a: R, b: R) => {
      const [one, other] = [values.get(a)!, values.get(b)!];
      return typeof one === "string" ? one.localeCompare(other as string) : one - (other as number);
    };
    const out = [...rows].sort(compare);
    return by.up ? out : out.reverse();
    // columns are made anew each time, and their names tell them apart
  }, [rows, by]);
  const look = () => {
    const element = box.current;
    if (!element) return;
    const first = Math.max(0, Math.floor(element.scrollTop / ROW) - SPARE);
    const last = Math.ceil((element.scrollTop + element.clientHeight) / ROW) + SPARE;
    if (first !== seen[0] || last !== seen[1]) setSeen([first, last]);
  };
  useEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    return () => observer.disconnect();
  });
  const at = sorted.findIndex((row) => selected !== undefined && id(row) === selected);
  useEffect(() => {
    const element = box.current;
    if (!element || at < 0) return;
    const top = at * ROW;
    if (top < element.scrollTop || top > element.scrollTop + element.clientHeight - 3 * ROW) {
      element.scrollTop = Math.max(0, top - element.clientHeight / 2);
    }
  }, [at]);
  const move = (event: KeyboardEvent) => {
    if (!choose) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / ROW) - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const step = steps[event.key];
    if (step === undefined || sorted.length === 0) return;
    event.preventDefault();
    choose(sorted[Math.min(sorted.length - 1, Math.max(0, at + step))]!);
  };
  const words = columns.reduce((sum, column) => sum + (column.words ? (column.wide ?? 1) : 0), 0);
  const range = printing ? [0, PRINTED] : seen;
  const [first, last] = [Math.min(range[0]!, sorted.length), Math.min(range[1]!, sorted.length)];
  return (
    <div
      class={narrow ? "grid-box is-narrow" : "grid-box"}
      ref={box}
      onScroll={look}
      onKeyDown={move}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <table class="grid" aria-rowcount={sorted.length}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.name}
                class={column.words ? "" : "number"}
                style={column.words && !narrow ? { width: `${((column.wide ?? 1) / words) * 100}%` } : {}}
                aria-sort={by.name === column.name ? (by.up ? "ascending" : "descending") : "none"}
              >
                <button
                  type="button"
                  title={column.title ?? ""}
                  onClick={() =>
                    setBy({
                      name: column.name,
                      up: by.name === column.name ? !by.up : (column.words ?? false),
                    })
                  }
                >
                  {column.name}
                  <span aria-hidden="true">{by.name === column.name ? (by.up ? " ↑" : " ↓") : ""}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && (
            <tr>
              <td class="spacer" colSpan={columns.length} style={{ height: `${first * ROW}px` }} />
            </tr>
          )}
          {sorted.slice(first, last).map((row) => (
            <tr
              key={id(row)}
              class={`${selected !== undefined && id(row) === selected ? "selected" : ""} ${lit?.(row) ? "is-lit" : ""}`}
              aria-selected={selected !== undefined && id(row) === selected}
              onClick={() => choose?.(row)}
            >
              {columns.map((column) => (
                <td
                  key={column.name}
                  class={`${column.words ? "words" : "number"} ${column.code ? "code" : ""}`}
                >
                  {column.bar && (
                    <span
                      class="cell-bar"
                      style={{ width: `${Math.min(100, column.bar(row) * 100)}%` }}
                      aria-hidden="true"
                    />
                  )}
                  <span class="cell" title={column.words ? column.text(row) : ""}>
                    {column.text(row)}
                  </span>
                </td>
              ))}
            </tr>
          ))}
          {last < sorted.length && !printing && (
            <tr>
              <td
                class="spacer"
                colSpan={columns.length}
                style={{ height: `${(sorted.length - last) * ROW}px` }}
              />
            </tr>
          )}
        </tbody>
      </table>
      {printing && last < sorted.length && (
        <p class="faint">{count(sorted.length - last)} more rows are not printed.</p>
      )}
    </div>
  );
}
