// What part of the run every view shows: which time, which process or thread, which stretch; and what is lit.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLooking } from "./context";
import { processName } from "./data/process";
import type { Metric } from "./data/scope";
import { show } from "./shared/outside";
import { Segments } from "./shared/segments";
import { moment, share, time } from "./shared/units";
import { processTree } from "./timeline/lanes";
import { Overview } from "./timeline/overview";
import { litTotal } from "./tree/tree";

const METRICS: [Metric, string, string][] = [
  ["cpu", "On CPU", "on-CPU time, from samples"],
  ["off", "Off CPU", "time asleep in system calls; waiting for a CPU is not included"],
  [
    "wall",
    "On + off",
    "time on the CPU and asleep in system calls, added up; waiting for a CPU is not included",
  ],
];

export function ScopeBar() {
  const { recording, state, go } = useLooking();
  const unit = recording.head.unit_ns;
  const [from, to] = state.range ?? [0, recording.span];
  return (
    <div class="scope">
      <div class="metric">
        <Segments
          label="Time"
          value={state.metric}
          options={METRICS}
          choose={(value) => go({ metric: value as Metric, zoom: [] })}
        />
        <div class="axis-label">{state.metric === "wall" ? "without waiting for a CPU" : ""}</div>
      </div>
      <Who />
      <div class="scope-time">
        <Overview />
        <div class="axis-label ends">
          <span>{moment(from * unit, recording.head.span_ns)}</span>
          {state.range && (
            <button type="button" class="link" onClick={() => go({ range: null, zoom: [] })}>
              {time((to - from) * unit)} selected ✕
            </button>
          )}
          <span>{moment(to * unit, recording.head.span_ns)}</span>
        </div>
      </div>
      <Search />
    </div>
  );
}

/** At most so many processes can be chosen here; the timeline and the processes' view have all. */
const MOST = 300;

function Who() {
  const { recording, state, go } = useLooking();
  const options = useMemo(() => {
    const { processes, threads } = recording.head;
    const several = processes.map(() => 0);
    for (const thread of threads) several[thread.process]!++;
    return processTree(recording)
      .slice(0, MOST)
      .flatMap(({ process, depth }) => {
        const row = processes[process]!;
        const indent = "\u00a0\u00a0".repeat(Math.min(8, depth));
        const own = { value: `p${process}`, text: `${indent}${processName(row)}` };
        const inner = threads.flatMap((thread, number) =>
          thread.process === process && several[process]! > 1
            ? [{ value: `t${number}`, text: `${indent}\u00a0\u00a0· ${show(thread.name)} ${thread.tid}` }]
            : [],
        );
        return [own, ...inner];
      });
  }, [recording]);
  if (options.length < 2) return null;
  const missing = state.who !== "" && !options.some((option) => option.value === state.who);
  return (
    <select
      class="who"
      aria-label="Process or thread"
      value={state.who}
      onChange={(event) => go({ who: event.currentTarget.value, zoom: [] })}
    >
      <option value="">all processes</option>
      {missing && <option value={state.who}>the selected one</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  );
}

function Search() {
  const { recording, selection, state, go, lit, searchError } = useLooking();
  const [text, setText] = useState(state.search);
  const input = useRef<HTMLInputElement>(null);
  // What was asked for from here. Only another search, such as by the back button, replaces what has been typed since.
  const asked = useRef(state.search);
  const ask = (search: string, quietly: boolean) => {
    asked.current = search;
    go({ search }, quietly);
  };
  useEffect(() => {
    if (state.search !== asked.current) setText(state.search);
    asked.current = state.search;
  }, [state.search]);
  // Typed text is looked for once it stands still for a moment: large recordings take some ms a search.
  useEffect(() => {
    if (text === state.search) return;
    const timer = setTimeout(() => ask(text, true), 120);
    return () => clearTimeout(timer);
  }, [text]);
  const finding = recording.head.findings.findings[state.finding];
  const matched = useMemo(() => {
    if (!lit) return null;
    const tree = selection.merged;
    const ns = litTotal(tree, lit.functions);
    return { ns, part: ns / Math.max(1, tree.whole), some: lit.functions.includes(1) };
  }, [lit, selection]);
  return (
    <div class="search">
      <input
        id="search"
        ref={input}
        type="search"
        placeholder="Search functions   /"
        title="part of a name; module:… or file:…; /regular expression/"
        aria-label="Search functions"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            setText("");
            ask("", true);
            event.currentTarget.blur();
          } else if (event.key === "Enter") ask(text, false);
        }}
      />
      <output class="matched" for="search">
        {searchError ? (
          <span class="warning" title={show(searchError)}>
            not a valid regular expression
          </span>
        ) : matched && state.search ? (
          matched.some ? (
            <span title={time(matched.ns)}>
              matched <b>{share(matched.part)}</b>
            </span>
          ) : (
            "no matches"
          )
        ) : finding ? (
          <button type="button" class="chip" title="Remove the highlight" onClick={() => go({ finding: -1 })}>
            <i aria-hidden="true" /> finding {state.finding + 1}
            {matched && matched.ns > 0 ? (
              <>
                : <b>{share(matched.part)}</b>
              </>
            ) : null}{" "}
            ✕
          </button>
        ) : null}
      </output>
    </div>
  );
}
