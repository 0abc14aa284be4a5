// Light or dark: as the system has it, or as the reader chose; light on paper.

import { useEffect, useState } from "preact/hooks";
import type { Theme } from "../flame/colours";

const NAME = "slowpath-theme";

function stored(): Theme | null {
  try {
    const value = localStorage.getItem(NAME);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null; // a file may be kept from storing anything
  }
}

/** The theme, and a way to turn it over. Paper is always light. */
export function useTheme(printing: boolean): [Theme, () => void] {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const [system, setSystem] = useState<Theme>(query.matches ? "dark" : "light");
  const [chosen, setChosen] = useState<Theme | null>(stored);
  useEffect(() => {
    const changed = (event: MediaQueryListEvent) => setSystem(event.matches ? "dark" : "light");
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  const theme = printing ? "light" : (chosen ?? system);
  document.documentElement.dataset.theme = theme;
  const turn = () => {
    const next = theme === "light" ? "dark" : "light";
    setChosen(next);
    try {
      localStorage.setItem(NAME, next);
    } catch {
      // it holds for this visit
    }
  };
  return [theme, turn];
}
