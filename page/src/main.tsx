// Begins: reads the recordings out of the document and shows them.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { App } from "./app";
import { loadAll } from "./data/load";

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
    box.textContent = `The recording in this page cannot be read: ${why}. Make the page anew with slowpath view.`;
    root.replaceChildren(box);
  });
