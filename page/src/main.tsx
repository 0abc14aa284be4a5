// Begins: reads the recordings out of the document and shows them.

import "uplot/dist/uPlot.min.css";
// In this order: later ones refine earlier ones.
import "./style.css";
import "./head.css";
import "./scope-bar.css";
import "./shared/grid.css";
import "./findings/findings.css";
import "./flame/flame.css";
import "./calls/calls.css";
import "./timeline/timeline.css";
import "./source/source.css";
import "./compare/compare.css";
import "./about/about.css";
import "./narrow.css";
import "./print.css";
import { render } from "preact";
import { App } from "./app";
import { loadAll } from "./data/load";
import { show } from "./shared/outside";

const root = document.getElementById("page")!;

loadAll(document)
  .then((recordings) => {
    if (recordings.length === 0) throw new Error("the page holds no recording");
    render(<App recordings={recordings} />, root);
  })
  .catch((error: unknown) => {
    const box = document.createElement("p");
    box.className = "failed";
    box.setAttribute("role", "alert");
    const why = error instanceof Error ? error.message : String(error);
    box.textContent = `The recording in this page cannot be read: ${show(why)}. Create the page again with slowpath view.`;
    root.replaceChildren(box);
  });
