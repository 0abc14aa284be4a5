// Source files with the cost of each line beside it. Their text is in the page only where that was asked for.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { useLooking } from "../context";
import { baseName, lines, type Outside, outside, show, showLine } from "../shared/outside";
import { counted, share, time } from "../shared/units";
import { fileCosts, lineCosts } from "./cost";

export function SourceView() {
  const { recording, selection, state, go } = useLooking();
  const costs = useMemo(() => lineCosts(recording, selection.weights), [recording, selection]);
  const sources = recording.head.sources ?? [];
  const has = useMemo(() => new Set(recording.head.sources?.map((source) => source.path)), [recording]);
  const whole = Math.max(1, selection.weights.whole);
  const files = useMemo(() => fileCosts(costs, has), [costs, has]);
  // The file of what is selected or guilty, else the first of the list.
  const guilty = recording.head.findings.findings[0]?.lit.guilty[0] ?? -1;
  const wanted = [state.fn, guilty].filter((fn) => fn >= 0).map((fn) => recording.file(fn));
  const first = wanted.find((file) => costs.has(file)) ?? files[0]?.path ?? outside("");
  const path = state.file || first;
  const source = sources.find((one) => one.path === path);
  const cost = costs.get(path);
  const table = useRef<HTMLDivElement>(null);
  const focus = [state.fn, guilty].find((fn) => recording.file(fn) === path) ?? -1;
  const line = focus >= 0 ? recording.line(focus) : 0;
  // another file is scrolled to its own line
  useEffect(() => {
    table.current?.querySelector(`[data-line="${line}"]`)?.scrollIntoView({ block: "start" });
  }, [path, line]);
  return (
    <section class="source" aria-label="Source">
      <nav class="files" aria-label="Files">
        {files.length > 0 && (
          <p class="files-head">
            <span class="number" title="Share of the time in the file's own code">
              self
            </span>
            <span class="number" title="Share of the time in the file and everything it calls">
              total
            </span>
            <span>file</span>
          </p>
        )}
        {files.slice(0, 200).map((file) => (
          <button
            type="button"
            key={file.path}
            class={file.path === path ? "file is-on" : "file"}
            aria-current={file.path === path}
            title={show(file.path)}
            onClick={() => go({ file: file.path }, true)}
          >
            <span class="number">{share(file.own / whole)}</span>
            <span class="number">{share(file.total / whole)}</span>
            <code class={has.has(file.path) ? "" : "faint"}>{show(baseName(file.path))}</code>
          </button>
        ))}
      </nav>
      <div class="lines" ref={table} tabIndex={0} role="region" aria-label={show(path)}>
        <p class="bar">
          <code>{show(path)}</code>
          {source?.newer && (
            <span class="warning">changed after the program was built: line numbers may be wrong</span>
          )}
        </p>
        {source ? (
          <table class="grid">
            <thead>
              <tr>
                <th class="number">self</th>
                <th class="number">total</th>
                <th class="number">line</th>
                <th>source</th>
              </tr>
            </thead>
            <tbody>
              {lines(source.text).map((text, i) => {
                const number = i + 1;
                const self = cost?.self.get(number) ?? 0;
                const total = cost?.inclusive.get(number) ?? 0;
                return (
                  <tr key={number} data-line={number} class={total > 0 ? "has-cost" : ""}>
                    <td class="number">{self > 0 && share(self / whole)}</td>
                    <td class="number">
                      {total > 0 && (
                        <>
                          <span
                            class="cell-bar"
                            style={{ width: `${Math.min(100, (total / whole) * 100)}%` }}
                            aria-hidden="true"
                          />
                          <span class="cell" title={time(total)}>
                            {share(total / whole)}
                          </span>
                        </>
                      )}
                    </td>
                    <td class="number faint">{number}</td>
                    <td class="text">{showLine(text)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        ) : (
          <NoText
            path={path}
            lines={cost ? [...cost.inclusive].sort((a, b) => b[1] - a[1]) : []}
            whole={whole}
          />
        )}
      </div>
    </section>
  );
}

/** Lines by number, where their text is not in the page. */
function NoText({ path, lines, whole }: { path: Outside; lines: [number, number][]; whole: number }) {
  const { recording } = useLooking();
  if (!path) return <p class="empty">No source lines are known: the program has no debug information.</p>;
  const why = recording.head.source?.left_out.find((group) => group.first.includes(path))?.why;
  return (
    <>
      <p class="empty">
        {recording.head.sources
          ? `The text of this file is not included in the page${why ? `: ${show(why)}` : ""}.`
          : "The text of source files is not in this page. `slowpath view --with-source` includes it."}
      </p>
      <table class="grid lines-only">
        <thead>
          <tr>
            <th class="number" title="Share of the time in the line and everything it calls">
              total
            </th>
            <th class="number">time</th>
            <th>line</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, 100).map(([line, ns]) => (
            <tr key={line}>
              <td class="number">{share(ns / whole)}</td>
              <td class="number">{time(ns)}</td>
              <td>line {line}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > 100 && <p class="faint">and {counted(lines.length - 100, "line")} more</p>}
    </>
  );
}
