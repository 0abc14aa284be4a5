// The table of calls: what each function cost, how often it was called where that was counted, who called it and what it calls.

import { useMemo, useState } from "preact/hooks";
import { useLooking } from "../context";
import { Incomplete } from "../flame/incomplete";
import { callsText } from "../flame/view";
import { copy, csv } from "../shared/copy";
import { type Column, Grid } from "../shared/grid";
import { counted, share, time } from "../shared/units";
import { type Edge, edges } from "../tree/calls";

interface Row {
  fn: number;
  name: string;
  inclusive: number;
  self: number;
  calls: number;
  covered: number;
  each: number;
  module: string;
  place: string;
}

export function CallsView() {
  const { recording, selection, state, go, lit, tell } = useLooking();
  const { costs, merged } = selection;
  const whole = Math.max(1, merged.whole);
  const rows = useMemo(() => {
    const calls = new Map(recording.head.counted.map((row) => [row.function, row]));
    const rows: Row[] = [];
    for (let fn = 0; fn < recording.functions; fn++) {
      if (costs.inclusive[fn] === 0) continue;
      const known = calls.get(fn);
      rows.push({
        fn,
        name: recording.name(fn),
        inclusive: costs.inclusive[fn]!,
        self: costs.self[fn]!,
        calls: known?.calls ?? -1,
        covered: known?.covered ?? 0,
        each: known && known.inclusive_ns > 0 ? known.inclusive_ns / known.calls : -1,
        module: recording.moduleName(fn),
        place: recording.place(fn),
      });
    }
    return rows;
  }, [recording, costs]);
  const [onlyLit, setOnlyLit] = useState(false);
  const shown = onlyLit && lit ? rows.filter((row) => lit.functions[row.fn] === 1) : rows;
  const columns: Column<Row>[] = [
    {
      name: "inclusive",
      title: "Time in the function and everything it calls",
      value: (row) => row.inclusive,
      text: (row) => share(row.inclusive / whole),
      bar: (row) => row.inclusive / whole,
    },
    {
      name: "self",
      title: "Time in the function itself",
      value: (row) => row.self,
      text: (row) => share(row.self / whole),
      bar: (row) => row.self / whole,
    },
    {
      name: "time",
      title: "Inclusive time",
      value: (row) => row.inclusive,
      text: (row) => time(row.inclusive),
    },
    {
      name: "calls",
      title: "Exact count for the whole run; ≥ where calls were counted for part of the run",
      value: (row) => row.calls,
      text: (row) => (row.calls < 0 ? "" : callsText(row.calls, row.covered).replace(/ calls?$/, "")),
    },
    {
      name: "per call",
      title: "Mean inclusive CPU time per call, while calls were counted",
      value: (row) => row.each,
      text: (row) => (row.each < 0 ? "" : time(row.each)),
    },
    {
      name: "function",
      wide: 2.2,
      words: true,
      code: true,
      value: (row) => row.name,
      text: (row) => row.name,
    },
    { name: "where", words: true, value: (row) => row.place, text: (row) => row.place },
    { name: "module", words: true, value: (row) => row.module, text: (row) => row.module },
  ];
  const save = async () => {
    const head = [
      "function",
      "module",
      "where",
      "inclusive_ns",
      "self_ns",
      "inclusive_share",
      "self_share",
      "calls",
      "calls_complete",
    ];
    const lines = shown.map((row) => [
      row.name,
      row.module,
      row.place,
      Math.round(row.inclusive),
      Math.round(row.self),
      row.inclusive / whole,
      row.self / whole,
      row.calls < 0 ? "" : row.calls,
      row.calls < 0 ? "" : row.covered >= 0.99 ? "yes" : "no",
    ]);
    const done = await copy(csv([head, ...lines]));
    tell(done ? `copied ${counted(lines.length, "line")} of CSV` : "the browser did not allow copying");
  };
  const chosen =
    state.fn >= 0 && state.fn < recording.functions && costs.inclusive[state.fn]! > 0 ? state.fn : -1;
  return (
    <section class="calls" aria-label="Calls">
      <div class="bar">
        <span class="count">{counted(shown.length, "function")}</span>
        {lit && (
          <label>
            <input type="checkbox" checked={onlyLit} onChange={() => setOnlyLit(!onlyLit)} /> only what is lit
          </label>
        )}
        <button type="button" onClick={save}>
          Copy as CSV
        </button>
        <Incomplete />
        <span class="hint">click a function to see its callers and callees</span>
      </div>
      <div class="split">
        <Grid
          label="Functions"
          rows={shown}
          columns={columns}
          sort="inclusive"
          id={(row) => row.fn}
          selected={chosen}
          lit={(row) => lit?.functions[row.fn] === 1}
          choose={(row) => go({ fn: row.fn }, true)}
        />
        {chosen >= 0 && <Around fn={chosen} />}
      </div>
    </section>
  );
}

/** Callers and callees of a function. */
function Around({ fn }: { fn: number }) {
  const { recording, selection, go } = useLooking();
  const { merged, costs } = selection;
  const around = useMemo(() => edges(merged, recording.functions, fn), [merged, recording, fn]);
  const own = costs.inclusive[fn]!;
  const list = (title: string, list: Edge[], self?: number) => (
    <div>
      <h3>{title}</h3>
      {list.length === 0 && !self && <p class="faint">none</p>}
      <table class="grid edges">
        <tbody>
          {self ? (
            <tr>
              <td class="number">{share(self / own)}</td>
              <td class="number">{time(self)}</td>
              <td class="faint">itself</td>
            </tr>
          ) : null}
          {list.slice(0, 60).map((edge) => (
            <tr key={edge.fn}>
              <td class="number">{share(edge.ns / own)}</td>
              <td class="number">{time(edge.ns)}</td>
              <td>
                {recording.isFunction(edge.fn) ? (
                  <button type="button" class="link code" onClick={() => go({ fn: edge.fn }, true)}>
                    {recording.name(edge.fn)}
                  </button>
                ) : (
                  recording.name(edge.fn)
                )}
                <span class="faint"> {recording.moduleName(edge.fn)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
  return (
    <aside class="around" aria-label={`Callers and callees of ${recording.name(fn)}`}>
      <h2>
        <code>{recording.name(fn)}</code>
      </h2>
      <p class="faint">{[recording.moduleName(fn), recording.place(fn)].filter(Boolean).join(" · ")}</p>
      <p>
        <button type="button" class="link" onClick={() => go({ view: "flame", mode: "sandwich", fn })}>
          in the flame graph
        </button>
        {recording.head.sources && recording.file(fn) && (
          <button
            type="button"
            class="link"
            onClick={() => go({ view: "source", file: recording.file(fn), fn })}
          >
            source
          </button>
        )}
      </p>
      {list("Callers", around.callers)}
      {list("Callees", around.callees, costs.self[fn])}
    </aside>
  );
}
