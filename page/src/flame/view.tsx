// The flame graph's view: which tree is drawn, its controls, and what is known of the selected frame.

import { useEffect, useMemo, useState } from "preact/hooks";
import { useLooking } from "../context";
import { processOfFrame } from "../data/process";
import { ALL, CALLERS_UNKNOWN, INLINED, type Recording } from "../data/recording";
import { copy } from "../shared/copy";
import { type Shown, showAll } from "../shared/outside";
import { Segments } from "../shared/segments";
import { count, counted, share, time } from "../shared/units";
import type { Mode } from "../state";
import { callees, callers } from "../tree/sandwich";
import { nodeAt, pathOf, type Tree } from "../tree/tree";
import { Colours } from "./colours";
import { Graph } from "./graph";
import { Incomplete } from "./incomplete";

export function FlameView() {
  const { recording, selection, state, go, lit, theme, tell } = useLooking();
  const mode: Mode = state.mode === "difference" ? "merged" : state.mode;
  // One process needs no level of its own.
  const several = mode !== "sandwich" && selection.weights.processes > 1;
  const processes = several && state.processes;
  const order = mode === "time" ? (processes ? selection.orderedByProcess : selection.ordered) : null;
  const tree = order ?? (processes ? selection.byProcess : selection.merged);
  const colours = useMemo(() => new Colours(recording, theme), [recording, theme]);
  // Where none is chosen: what the first finding is about, else where most time goes.
  const guilty = recording.head.findings.findings[0]?.lit.guilty[0];
  const fn = recording.isFunction(state.fn)
    ? state.fn
    : mode === "sandwich"
      ? (guilty ?? hottest(selection.costs.self))
      : -1;
  const sandwich = useMemo(
    () =>
      mode === "sandwich" && fn >= 0
        ? { up: callers(selection.merged, fn), down: callees(selection.merged, fn) }
        : null,
    [mode, fn, selection],
  );
  const drawnMain = useDrawn(recording, tree, colours);
  const drawnUp = useDrawn(recording, sandwich?.up ?? tree, colours);
  const drawnDown = useDrawn(recording, sandwich?.down ?? tree, colours);
  const zoomed = useMemo(() => nodeAt(tree, state.zoom), [tree, state.zoom]);
  const [chosen, setChosen] = useState(0);
  // In time order many nodes have one path: the zoom is to the very one that was clicked.
  const [exact, setExact] = useState<{ tree: Tree; node: number } | null>(null);
  const zoomNode =
    exact && exact.tree === tree && samePath(tree, exact.node, state.zoom) ? exact.node : zoomed;
  useEffect(() => setChosen(zoomNode), [zoomNode, tree]);

  const stackText = (of: Tree, node: number) =>
    pathOf(of, node)
      .map((one) => `${recording.name(one)}${whereOf(one)}`)
      .join("\n");
  const whereOf = (one: number) => {
    const at = [recording.place(one), recording.moduleName(one)].filter(Boolean).join(" · ");
    return at ? `  (${at})` : "";
  };
  const copyStack = async (of: Tree, node: number) => {
    const done = await copy(`${stackText(of, node)}\n`);
    tell(
      done
        ? `copied a stack of ${counted(pathOf(of, node).length, "frame")}`
        : "the browser did not allow copying",
    );
  };
  const key = (of: Tree) => (event: KeyboardEvent, node: number) => {
    const one = of.fn[node]!;
    if (event.key === "c") copyStack(of, node);
    else if (event.key === "s" && recording.isFunction(one)) go({ mode: "sandwich", fn: one });
    else if (event.key === "f") go({ upward: !state.upward });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const props = (of: Tree, drawn: Drawn) => ({
    tree: of,
    ...drawn,
    tip: (node: number) => ({
      name: recording.name(of.fn[node]!),
      where: whereLine(of.fn[node]!, of.kind[node]!),
      rows: figures(of, node),
    }),
    onKey: key(of),
  });
  const whereLine = (one: number, kind: number) => {
    if (one === CALLERS_UNKNOWN) return "these stacks do not reach the start of their thread";
    const process = processOfFrame(recording.head.processes, one);
    if (process) return showAll(process.arguments, " ");
    const parts = [recording.moduleName(one), recording.place(one), kind === INLINED ? "inlined here" : ""];
    return parts.filter(Boolean).join(" · ");
  };
  const figures = (of: Tree, node: number): [string, string][] => {
    const one = of.fn[node]!;
    const rows: [string, string][] = [
      ["total", `${time(of.total[node]!)} · ${share(of.total[node]! / of.whole)}`],
      ["self", `${time(of.self[node]!)} · ${share(of.self[node]! / of.whole)}`],
    ];
    const calls = recording.head.counted.find((row) => row.function === one);
    if (calls) rows.push(["calls", callsText(calls.calls, calls.covered)]);
    return rows;
  };

  const main = props(tree, drawnMain);
  const up = props(sandwich?.up ?? tree, drawnUp);
  const down = props(sandwich?.down ?? tree, drawnDown);
  const empty = tree.total[0] === 0;
  const one = tree.fn[chosen] ?? ALL;
  return (
    <section class="flame" aria-label="Flame graph">
      <div class="bar">
        <Segments
          label="Order"
          value={mode}
          options={[
            ["merged", "Merged", "equal call paths merged, most time first"],
            ["time", "Time order", "samples in the order they were taken"],
            ["sandwich", "Callers & callees", "callers and callees of one function"],
          ]}
          choose={(value) => go({ mode: value as Mode })}
        />
        {mode !== "sandwich" && (
          <Segments
            label="Direction"
            value={state.upward ? "up" : "down"}
            options={[
              ["down", "Icicle", "callers above"],
              ["up", "Flame", "callers below"],
            ]}
            choose={(value) => go({ upward: value === "up" })}
          />
        )}
        {several && (
          <label title="The first level is the process, with its number">
            <input
              type="checkbox"
              checked={processes}
              onChange={() => go({ processes: !processes, zoom: [] })}
            />{" "}
            by process
          </label>
        )}
        {zoomNode > 0 && mode !== "sandwich" && (
          <button type="button" onClick={() => go({ zoom: [] })} title="Home">
            ← Whole graph
          </button>
        )}
        <Incomplete />
        <span class="hint">
          {order && order.each > 1
            ? `${count(order.each)} samples are drawn as one: select a shorter time range to see each`
            : mode === "sandwich"
              ? ""
              : "click: zoom in · Esc: zoom out · arrows: move · c: copy the stack · s: callers & callees"}
        </span>
      </div>
      {mode === "sandwich" ? (
        sandwich && sandwich.down.total[0]! > 0 ? (
          <div class="sandwich">
            <h3>
              Callers of <code>{recording.name(fn)}</code>
            </h3>
            <Graph
              {...up}
              upward
              fit
              zoomed={0}
              label={`Callers of ${recording.name(fn)}`}
              onSelect={() => {}}
              onZoom={(node) => go({ fn: realFunction(recording, sandwich.up.fn[node]!, fn) })}
            />
            <h3>
              Callees of <code>{recording.name(fn)}</code>, {time(sandwich.down.total[0]!)} ·{" "}
              {share(sandwich.down.total[0]! / sandwich.down.whole)}
            </h3>
            <Graph
              {...down}
              upward={false}
              zoomed={0}
              label={`Callees of ${recording.name(fn)}`}
              onSelect={() => {}}
              onZoom={(node) => go({ fn: realFunction(recording, sandwich.down.fn[node]!, fn) })}
            />
          </div>
        ) : (
          <p class="empty">
            This function has no samples in this selection: choose another in the merged graph or in the table
            of calls.
          </p>
        )
      ) : empty ? (
        <p class="empty">
          No samples here: no {state.metric === "off" ? "off-CPU" : "on-CPU"} time in this selection.
        </p>
      ) : (
        <Graph
          {...main}
          upward={state.upward}
          zoomed={zoomNode}
          label="Flame graph. Arrow keys move between frames, Enter zooms in, Escape zooms out."
          onSelect={(node) => {
            setChosen(node);
            const of = tree.fn[node]!;
            if (recording.isFunction(of)) go({ fn: of }, true);
          }}
          onZoom={(node) => {
            setExact({ tree, node });
            go({ zoom: pathOf(tree, node) });
          }}
        />
      )}
      {mode !== "sandwich" && !empty && (
        <div class="details" aria-live="polite">
          <span class={one === ALL ? "details-name whole" : "details-name"}>{recording.name(one)}</span>
          <span class="details-where">{whereLine(one, tree.kind[chosen] ?? 0)}</span>
          <span class="details-figures">
            {figures(tree, chosen).map(([name, value]) => (
              <span key={name}>
                {name} <b>{value}</b>
              </span>
            ))}
          </span>
          {recording.isFunction(one) && (
            <span class="details-do">
              <button type="button" onClick={() => go({ mode: "sandwich", fn: one })}>
                Callers & callees
              </button>
              <button type="button" onClick={() => go({ view: "calls", fn: one })}>
                In calls
              </button>
              <button type="button" onClick={() => copyStack(tree, chosen)}>
                Copy stack
              </button>
            </span>
          )}
        </div>
      )}
      {lit === null ? null : <span class="offscreen">Highlighted frames have a thick outline.</span>}
    </section>
  );
}

/** What stands on a frame, and its colour. */
interface Drawn {
  name(node: number): Shown;
  colour(node: number, faded: boolean): string;
}

function useDrawn(recording: Recording, tree: Tree, colours: Colours): Drawn {
  return useMemo(
    () => ({
      name: (node) => recording.name(tree.fn[node]!),
      colour: (node, faded) => colours.of(tree.fn[node]!, faded),
    }),
    [recording, tree, colours],
  );
}

/** How often a function was called, as far as it was counted. */
export function callsText(calls: number, covered: number): string {
  return covered >= 0.99 ? counted(calls, "call") : `≥ ${counted(calls, "call")}`;
}

function hottest(self: Float64Array): number {
  let most = -1;
  self.forEach((ns, fn) => {
    if (ns > (self[most] ?? 0)) most = fn;
  });
  return most;
}

function realFunction(recording: Recording, fn: number, otherwise: number): number {
  return recording.isFunction(fn) ? fn : otherwise;
}

function samePath(tree: Tree, node: number, path: readonly number[]): boolean {
  const own = node < tree.count ? pathOf(tree, node) : [];
  return own.length === path.length && own.every((fn, i) => fn === path[i]);
}
