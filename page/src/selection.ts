// What a scope of a recording comes to, computed when it is first asked for and kept for the last few scopes.

import type { Recording } from "./data/recording";
import { type Scope, type Weights, weigh } from "./data/scope";
import type { State } from "./state";
import { type Costs, costs } from "./tree/calls";
import { ordered } from "./tree/order";
import { byProcess } from "./tree/processes";
import { merged, type Tree } from "./tree/tree";

type Ordered = Tree & { each: number };

export class Selection {
  private known: {
    weights?: Weights;
    merged?: Tree;
    byProcess?: Tree;
    ordered?: Ordered;
    orderedByProcess?: Ordered;
    costs?: Costs;
  } = {};

  constructor(
    readonly recording: Recording,
    readonly scope: Scope,
  ) {}

  get weights(): Weights {
    this.known.weights ??= weigh(this.recording, this.scope);
    return this.known.weights;
  }

  get merged(): Tree {
    this.known.merged ??= merged(this.recording, this.weights);
    return this.known.merged;
  }

  /** As merged, with the process as the first level. */
  get byProcess(): Tree {
    this.known.byProcess ??= byProcess(this.recording, this.scope, this.weights);
    return this.known.byProcess;
  }

  get ordered(): Ordered {
    this.known.ordered ??= ordered(this.recording, this.scope, this.weights);
    return this.known.ordered;
  }

  get orderedByProcess(): Ordered {
    this.known.orderedByProcess ??= ordered(this.recording, this.scope, this.weights, true);
    return this.known.orderedByProcess;
  }

  get costs(): Costs {
    this.known.costs ??= costs(this.merged, this.recording.functions);
    return this.known.costs;
  }
}

/** Threads that `who` means: those of a process, or one. Null for all. */
export function threadsOf(recording: Recording, who: string): Set<number> | null {
  const number = Number.parseInt(who.slice(1), 10);
  if (who.startsWith("t") && number < recording.head.threads.length) return new Set([number]);
  if (!who.startsWith("p") || number >= recording.head.processes.length) return null;
  const threads = recording.head.threads.map((thread, i) => (thread.process === number ? i : -1));
  return new Set(threads.filter((thread) => thread >= 0));
}

const kept: { key: string; recording: Recording; selection: Selection }[] = [];
const MOST = 4;

/** The selection of a state. */
export function select(recording: Recording, state: State): Selection {
  const key = `${state.metric} ${state.who} ${state.range?.join("-") ?? ""}`;
  const known = kept.find((one) => one.key === key && one.recording === recording);
  if (known) return known.selection;
  const scope = { metric: state.metric, threads: threadsOf(recording, state.who), range: state.range };
  const selection = new Selection(recording, scope);
  kept.unshift({ key, recording, selection });
  kept.length = Math.min(kept.length, MOST);
  return selection;
}
