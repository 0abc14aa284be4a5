// What every view is given.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Lit } from "./data/lit";
import type { Recording } from "./data/recording";
import type { Theme } from "./flame/colours";
import type { Selection } from "./selection";
import type { State } from "./state";

export interface Looking {
  recordings: Recording[];
  /** The one that is looked at where one is. */
  recording: Recording;
  selection: Selection;
  state: State;
  /** Changes the state; the browser's back button undoes it unless `quietly`. */
  go(change: Partial<State>, quietly?: boolean): void;
  /** What is lit, and in words why. */
  lit: Lit | null;
  /** Why the search finds nothing, if it is no expression. */
  searchError: string | null;
  theme: Theme;
  /** The page is being printed: all is there, however long it is. */
  printing: boolean;
  /** Says something once, at the foot of the page and to who listens. */
  tell(text: string): void;
}

export const Context = createContext<Looking | null>(null);

export function useLooking(): Looking {
  const looking = useContext(Context);
  if (!looking) throw new Error("no recording is loaded");
  return looking;
}
