// The page: head, views, what is looked at, and the state in the URL that ties them together.

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { AboutView } from "./about/view";
import { CallsView } from "./calls/view";
import { CompareView } from "./compare/view";
import { Context, type Looking, useLooking } from "./context";
import { type Lit, ofFinding, search } from "./data/lit";
import type { Recording } from "./data/recording";
import { FindingsView } from "./findings/view";
import { FlameView } from "./flame/view";
import { ProcessesView } from "./processes/view";
import { ScopeBar } from "./scope-bar";
import { select } from "./selection";
import { outside, shellCommand, show } from "./shared/outside";
import { usePrinting } from "./shared/printing";
import { Segments } from "./shared/segments";
import { useTheme } from "./shared/theme";
import { SourceView } from "./source/view";
import { fromFragment, START, type State, toFragment, type View } from "./state";
import { SyscallsView } from "./syscalls/view";
import { TimelineView } from "./timeline/view";

const VIEWS: [View, string, () => preact.JSX.Element][] = [
  ["compare", "Compare", CompareView],
  ["findings", "Findings", FindingsView],
  ["flame", "Flame graph", FlameView],
  ["calls", "Calls", CallsView],
  ["timeline", "Timeline", TimelineView],
  ["syscalls", "System calls", SyscallsView],
  ["processes", "Processes", ProcessesView],
  ["source", "Source", SourceView],
  ["about", "About", AboutView],
];

/** Views that a scope changes. */
const SCOPED: ReadonlySet<View> = new Set(["flame", "calls", "timeline", "syscalls", "processes", "source"]);

export function App({ recordings }: { recordings: Recording[] }) {
  const two = recordings.length > 1;
  const first = (fragment: string): State => {
    const state = fromFragment(fragment);
    const asked = new URLSearchParams(fragment.replace(/^#/, "")).has("view");
    const view = two && !asked ? "compare" : !two && state.view === "compare" ? "findings" : state.view;
    return { ...state, view, side: two ? state.side : 0 };
  };
  const [state, setState] = useState(() => first(location.hash));
  const printing = usePrinting();
  const [theme, turn] = useTheme(printing);
  const [told, setTold] = useState("");
  const latest = useRef(state);
  latest.current = state;
  const go = useCallback((change: Partial<State>, quietly = false) => {
    const side = change.side !== undefined && change.side !== latest.current.side;
    // Numbers of functions are a recording's own.
    const foreign = side ? { fn: -1, zoom: [], who: "", range: null, file: outside(""), finding: -1 } : {};
    const next = { ...latest.current, ...foreign, ...change };
    latest.current = next;
    setState(next);
    const fragment = `#${toFragment(next)}${two && next.view === START.view ? "&view=findings" : ""}`;
    if (quietly) history.replaceState(null, "", fragment);
    else if (fragment !== location.hash) history.pushState(null, "", fragment);
  }, []);
  useEffect(() => {
    const changed = () => setState(first(location.hash));
    window.addEventListener("popstate", changed);
    window.addEventListener("hashchange", changed);
    return () => {
      window.removeEventListener("popstate", changed);
      window.removeEventListener("hashchange", changed);
    };
  }, []);
  const recording = recordings[state.side] ?? recordings[0]!;
  const selection = select(recording, state);
  const finding = recording.head.findings.findings[state.finding];
  const [lit, searchError] = useMemo<[Lit | null, string | null]>(() => {
    const found = search(recording, state.search);
    if (found instanceof Error) return [null, found.message];
    if (found) return [found, null];
    return [finding ? ofFinding(recording, finding) : null, null];
  }, [recording, state.search, finding]);
  const tell = useCallback((text: string) => {
    setTold(text);
    setTimeout(() => setTold((now) => (now === text ? "" : now)), 2500);
  }, []);
  const looking: Looking = {
    recordings,
    recording,
    selection,
    state,
    go,
    lit,
    searchError,
    theme,
    printing,
    tell,
  };
  const views = VIEWS.filter(([view]) => two || view !== "compare");
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.matches("#search, select");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "/") {
        event.preventDefault();
        if (!SCOPED.has(latest.current.view)) go({ view: "flame" });
        requestAnimationFrame(() => document.querySelector<HTMLInputElement>("#search")?.focus());
      } else if (/^[1-9]$/.test(event.key)) {
        const view = views[Number(event.key) - 1]?.[0];
        if (view) go({ view });
      }
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, [two]);
  const Shown = views.find(([view]) => view === state.view)?.[2] ?? FindingsView;
  return (
    <Context.Provider value={looking}>
      <Head turn={turn} />
      <Tabs views={views} />
      {SCOPED.has(state.view) && <ScopeBar />}
      <main id="view">
        <Shown key={`${state.view} ${state.side}`} />
      </main>
      <div class={told ? "told is-on" : "told"} role="status">
        {told}
      </div>
    </Context.Provider>
  );
}

function Head({ turn }: { turn(): void }) {
  const { recording, recordings, state, go, theme } = useLooking();
  const { about, run } = recording.head;
  const command = shellCommand(about.command);
  const both = recordings.length > 1 && state.view === "compare";
  return (
    <header class="head">
      <span class="mark">slowpath</span>
      {both ? (
        <span class="command">two recordings</span>
      ) : (
        <code class="command" title={command}>
          {command}
        </code>
      )}
      {recordings.length > 1 && state.view !== "compare" && (
        <Segments
          label="Recording"
          value={String(state.side)}
          options={[
            ["0", "A", "before"],
            ["1", "B", "after"],
          ]}
          choose={(value) => go({ side: Number(value) })}
        />
      )}
      <span class="facts-line">
        {(both ? [] : run.facts).map(([name, value]) => (
          <span key={name} class={show(name) === "exit" && show(value) !== "0" ? "warning" : ""}>
            {show(name)} <b>{show(value)}</b>
          </span>
        ))}
      </span>
      <button
        type="button"
        class="theme"
        onClick={turn}
        aria-label={theme === "light" ? "Dark colours" : "Light colours"}
        title={theme === "light" ? "Dark colours" : "Light colours"}
      >
        {theme === "light" ? "☾" : "☀"}
      </button>
    </header>
  );
}

function Tabs({ views }: { views: typeof VIEWS }) {
  const { state, go, recording } = useLooking();
  const number = recording.head.findings.findings.length;
  const nav = useRef<HTMLElement>(null);
  // Where there is not room for all of them, the one that is looked at is seen.
  useLayoutEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [state.view]);
  return (
    <nav class="tabs" aria-label="Views" ref={nav}>
      {views.map(([view, text]) => (
        <button
          type="button"
          key={view}
          aria-current={state.view === view ? "page" : undefined}
          onClick={() => go({ view })}
        >
          {text}
          {view === "findings" && number > 0 && <span class="badge">{number}</span>}
        </button>
      ))}
    </nav>
  );
}
