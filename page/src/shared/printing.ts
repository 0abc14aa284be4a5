// Whether the page is being printed. What scrolls on the screen is then drawn whole, and in light colours.

import { options } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Has a change of state drawn before it returns: the browser prints what is there when its event is over. */
function atOnce(change: () => void): void {
  const before = options.debounceRendering;
  let render: (() => void) | undefined;
  options.debounceRendering = (later) => {
    render = later;
  };
  try {
    change();
    render?.();
  } finally {
    if (before) options.debounceRendering = before;
    else delete options.debounceRendering;
  }
}

export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => atOnce(() => setPrinting(true));
    const end = () => atOnce(() => setPrinting(false));
    window.addEventListener("beforeprint", begin);
    window.addEventListener("afterprint", end);
    return () => {
      window.removeEventListener("beforeprint", begin);
      window.removeEventListener("afterprint", end);
    };
  }, []);
  return printing;
}
