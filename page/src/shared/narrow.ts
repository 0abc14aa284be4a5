// Whether the window is as narrow as a phone's: names then stand before numbers, and what is beside something is below it.

import { useEffect, useState } from "preact/hooks";

/** As in narrow.css. */
const QUERY = "(max-width: 600px)";

export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(QUERY).matches);
  useEffect(() => {
    const query = matchMedia(QUERY);
    const changed = () => setNarrow(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return narrow;
}
