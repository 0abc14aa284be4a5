// Two recordings: what the verdict is where runs were timed, which findings went, and which functions' time changed.

import { useCallback, useMemo, useState } from "preact/hooks";
import { useLooking } from "../context";
import type { Comparison, Estimate } from "../data/head";
import { type Recording, standIn } from "../data/recording";
import { changeColour } from "../flame/colours";
import { Graph } from "../flame/graph";
import { select } from "../selection";
import { type Column, Grid } from "../shared/grid";
import { shellCommand, show } from "../shared/outside";
import { Segments } from "../shared/segments";
import { share, time } from "../shared/units";
import { START } from "../state";
import { change, difference, union } from "../tree/diff";
import { nodeAt, pathOf } from "../tree/tree";
import { type Change, changes, fates } from "./changes";
import { changed, figure } from "./figures";

export function CompareView() {
  const { recordings, state } = useLooking();
  const [a, b] = recordings as [Recording, Recording];
  const [shown, setShown] = useState<"flame" | "functions">("flame");
  const selections = useMemo(() => {
    const whole = { ...START, metric: state.metric };
    return [select(a, whole), select(b, whole)] as const;
  }, [a, b, state.metric]);
  const of = useMemo(() => union(a, b), [a, b]);
  return (
    <section class="compare" aria-label="Comparison">
      <div class="sides">
        <Side recording={a} letter="A" word="before" />
        <span class="arrow" aria-hidden="true">
          →
        </span>
        <Side recording={b} letter="B" word="after" />
      </div>
      {a.head.comparison ? <Verdict comparison={a.head.comparison} /> : <NoVerdict a={a} b={b} />}
      <Fates a={a} b={b} />
      <div class="bar">
        <Segments
          label="Shown"
          value={shown}
          options={[
            ["flame", "Flame graph of both", ""],
            ["functions", "Functions", ""],
          ]}
          choose={(value) => setShown(value as typeof shown)}
        />
        <Normal />
        {shown === "flame" && <Widths />}
      </div>
      {shown === "flame" ? (
        <Difference selections={selections} of={of} />
      ) : (
        <Functions selections={selections} of={of} />
      )}
    </section>
  );
}

type Both = readonly [ReturnType<typeof select>, ReturnType<typeof select>];

function Side({ recording, letter, word }: { recording: Recording; letter: string; word: string }) {
  const { about, run } = recording.head;
  return (
    <div class="side">
      <b>{letter}</b> <span class="faint">{word}</span>
      <code>{shellCommand(about.command)}</code>
      <span class="facts-line">
        {run.facts.slice(0, 3).map(([name, value]) => (
          <span key={name}>
            {show(name)} <b>{show(value)}</b>
          </span>
        ))}
      </span>
    </div>
  );
}

const WORDS = {
  faster: "B is faster than A",
  slower: "B is slower than A",
  same: "A and B take the same time",
  unknown: "It is unclear which is faster",
};

function Verdict({ comparison }: { comparison: Comparison }) {
  const said = (name: string, one: Estimate | null) =>
    one && (
      <p>
        {name}: A takes <b>{one.ratio.toFixed(2)}×</b> as long as B, {one.low.toFixed(2)}× to{" "}
        {one.high.toFixed(2)}×, from {one.pairs} pairs
      </p>
    );
  return (
    <article class={`card verdict ${comparison.verdict}`}>
      <h2>{comparison.failure ? show(comparison.failure) : WORDS[comparison.verdict]}</h2>
      {said("elapsed time", comparison.wall)}
      {said("CPU time", comparison.cpu)}
      {comparison.notes.map((note) => (
        <p class="faint" key={note}>
          {show(note)}
        </p>
      ))}
    </article>
  );
}

/** Where nothing was timed: what can be said, and how to have more. */
function NoVerdict({ a, b }: { a: Recording; b: Recording }) {
  const cpu = [a, b].map((one) => one.head.run.cpu_ns / Math.max(1, one.head.about.runs)) as [number, number];
  return (
    <p class="no-verdict">
      CPU time <b>{time(cpu[0])}</b> → <b>{time(cpu[1])}</b>
      <span class="faint">
        {" "}
        in the recorded runs. Recording adds overhead, so this is not a verdict:{" "}
        <code>slowpath compare -- 'A' 'B'</code> times runs without recording.
      </span>
    </p>
  );
}

function Fates({ a, b }: { a: Recording; b: Recording }) {
  const { go } = useLooking();
  const list = useMemo(() => fates(a, b), [a, b]);
  if (list.length === 0) return <p class="faint">No findings in either recording.</p>;
  const mark = { gone: "✓ gone", new: "! new", kept: "= still there" };
  return (
    <ul class="fates">
      {list.map(({ fate, finding, cost }) => (
        <li key={`${fate} ${show(finding.fingerprint)}`} class={fate}>
          <span class="fate">{mark[fate]}</span>
          <button
            type="button"
            class="link"
            onClick={() => go({ view: "findings", side: fate === "gone" ? 0 : 1, finding: -1 })}
          >
            {show(finding.said.title)}
          </button>
          <code>{show(finding.function)}</code>
          <span class="number">
            {cost[0] > 0 ? time(cost[0]) : "—"} → {cost[1] > 0 ? time(cost[1]) : "—"}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Normal() {
  const { state, go } = useLooking();
  return (
    <Segments
      label="Times"
      value={state.normal ? "share" : "time"}
      options={[
        ["time", "Absolute", "time per run"],
        ["share", "Normalised", "shares of each side's time"],
      ]}
      choose={(value) => go({ normal: value === "share" })}
    />
  );
}

function Widths() {
  const { state, go } = useLooking();
  return (
    <Segments
      label="Widths"
      value={state.width}
      options={[
        ["both", "A + B wide", "shows frames of both sides"],
        ["a", "A wide", "widths from A"],
        ["b", "B wide", "widths from B"],
      ]}
      choose={(value) => go({ width: value as typeof state.width })}
    />
  );
}

function Difference({ selections, of }: { selections: Both; of: ReturnType<typeof union> }) {
  const { state, go, theme } = useLooking();
  const tree = useMemo(
    () =>
      difference(
        [selections[0].recording, selections[1].recording],
        [selections[0].weights, selections[1].weights],
        of,
        state.width,
        state.normal,
      ),
    [selections, of, state.width, state.normal],
  );
  const [a, b] = tree.sides;
  const name = useCallback(
    (node: number) => {
      const fn = tree.fn[node]!;
      const text = standIn(fn) ?? of.names[fn]!;
      return show(a[node] === 0 ? `${text} (only in B)` : b[node] === 0 ? `${text} (only in A)` : text);
    },
    [tree, of, a, b],
  );
  const colour = useCallback(
    (node: number) => changeColour(change(a[node]!, b[node]!), theme),
    [a, b, theme],
  );
  const hatched = useCallback((node: number) => a[node] === 0 || b[node] === 0, [a, b]);
  const zoomed = useMemo(() => nodeAt(tree, state.zoom), [tree, state.zoom]);
  const [chosen, setChosen] = useState(0);
  // Of a frame that is on the side: its time there if that passed, and its share of the side.
  const told = (ns: number, whole: number) =>
    ns <= 0 ? "not present" : state.normal ? share(ns / whole) : `${time(ns)} · ${share(ns / whole)}`;
  const whole = state.normal ? [Math.max(1, a[0]!), Math.max(1, b[0]!)] : [1, 1];
  const figures = (node: number): [string, string][] => [
    ["A, before", told(a[node]!, a[0]!)],
    ["B, after", told(b[node]!, b[0]!)],
    ["change", changed(a[node]! / whole[0]!, b[node]! / whole[1]!, state.normal) || "none"],
  ];
  const node = chosen < tree.count ? chosen : 0;
  if (tree.total[0] === 0) return <p class="empty">No samples on this side.</p>;
  return (
    <>
      <div class="bar">
        <ul class="legend" aria-label="Colours">
          <li>
            <i class="less" /> less in B
          </li>
          <li>
            <i class="more" /> more in B
          </li>
          <li>
            <i class="only" /> hatched: on one side only
          </li>
        </ul>
        {zoomed > 0 && (
          <button type="button" onClick={() => go({ zoom: [] })}>
            ← Whole graph
          </button>
        )}
      </div>
      <Graph
        tree={tree}
        upward={state.upward}
        zoomed={zoomed}
        label="Flame graph of both recordings"
        name={name}
        colour={colour}
        hatched={hatched}
        tip={(at) => ({ name: name(at), where: of.modules[tree.fn[at]!] ?? "", rows: figures(at) })}
        onSelect={setChosen}
        onZoom={(at) => go({ zoom: pathOf(tree, at) })}
        onKey={() => {}}
      />
      <div class="details" aria-live="polite">
        <span class="details-name">{name(node)}</span>
        <span class="details-figures">
          {figures(node).map(([title, value]) => (
            <span key={title}>
              {title} <b>{value}</b>
            </span>
          ))}
        </span>
      </div>
    </>
  );
}

function Functions({ selections, of }: { selections: Both; of: ReturnType<typeof union> }) {
  const { state } = useLooking();
  const rows = useMemo(() => changes(selections, of, state.normal), [selections, of, state.normal]);
  const most = rows.reduce((high, row) => Math.max(high, Math.abs(row.self[1] - row.self[0])), 0) || 1;
  const told = (value: number) => (value > 0 ? figure(value, state.normal) : "—");
  const title = state.normal ? "In percentage points of each side's time" : "";
  const columns: Column<Change>[] = [
    {
      name: "change, self",
      title,
      value: (row) => Math.abs(row.self[1] - row.self[0]),
      text: (row) => changed(row.self[0], row.self[1], state.normal),
      bar: (row) => Math.abs(row.self[1] - row.self[0]) / most,
    },
    { name: "self A", value: (row) => row.self[0], text: (row) => told(row.self[0]) },
    { name: "self B", value: (row) => row.self[1], text: (row) => told(row.self[1]) },
    {
      name: "change, inclusive",
      title,
      value: (row) => Math.abs(row.inclusive[1] - row.inclusive[0]),
      text: (row) => changed(row.inclusive[0], row.inclusive[1], state.normal),
    },
    { name: "inclusive A", value: (row) => row.inclusive[0], text: (row) => told(row.inclusive[0]) },
    { name: "inclusive B", value: (row) => row.inclusive[1], text: (row) => told(row.inclusive[1]) },
    { name: "function", wide: 3, words: true, code: true, value: (row) => row.name, text: (row) => row.name },
    { name: "module", words: true, value: (row) => row.module, text: (row) => row.module },
  ];
  return <Grid label="Changes" rows={rows} columns={columns} sort="change, self" id={(row) => row.fn} />;
}
