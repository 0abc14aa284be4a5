// The findings, in words, ranked, each with its evidence; and links that light up what they are about everywhere else.

import { useState } from "preact/hooks";
import { useLooking } from "../context";
import type { Finding } from "../data/head";
import { ofFinding, processOf } from "../data/lit";
import { place } from "../data/recording";
import { type Shown, show } from "../shared/outside";
import { count, quantity, share, time } from "../shared/units";
import { Evidence } from "./evidence";
import { Plot } from "./plot";
import { When } from "./when";

export function FindingsView() {
  const { recording } = useLooking();
  const { findings, run } = { ...recording.head, ...recording.head.findings };
  return (
    <section class="findings" aria-label="Findings">
      {run.cut_short && <p class="warning">{show(run.cut_short)}</p>}
      {findings.map((finding, number) => (
        <Card key={finding.fingerprint} finding={finding} number={number} />
      ))}
      {findings.length === 0 && (
        <article class="card">
          {run.nothing.map((sentence, i) =>
            i === 0 ? <h2 key={sentence}>{show(sentence)}</h2> : <p key={sentence}>{show(sentence)}</p>,
          )}
        </article>
      )}
      {run.not_explained.map((sentence) => (
        <p key={sentence}>{show(sentence)}</p>
      ))}
      {recording.head.findings.notes.length > 0 && (
        <ul class="notes">
          {recording.head.findings.notes.map((note) => (
            <li key={note}>{show(note)}</li>
          ))}
        </ul>
      )}
      <Hot />
    </section>
  );
}

function Card({ finding, number }: { finding: Finding; number: number }) {
  const { recording, state, go } = useLooking();
  const { said } = finding;
  const on = state.finding === number;
  const light = (view: typeof state.view) => {
    // Elapsed time is one process's: that of the others passed at the same time.
    const process = finding.basis === "wall" ? processOf(recording, ofFinding(recording, finding)) : -1;
    const alone = process >= 0 && (view === "flame" || view === "calls");
    go({
      view,
      finding: number,
      search: "",
      metric: finding.basis === "wall" ? "wall" : "cpu",
      who: alone ? `p${process}` : "",
      mode: "merged",
      zoom: [],
      fn: finding.lit.guilty[0] ?? -1,
    });
  };
  const at = place(finding.file, finding.line);
  return (
    <article class={on ? "card lit" : "card"} aria-label={`Finding ${number + 1}: ${show(said.title)}`}>
      <header>
        <span class="rank" aria-hidden="true">
          {number + 1}
        </span>
        <h2>{show(said.title)}</h2>
        <Meter share={finding.share} text={show(said.cost)} />
      </header>
      <p class="guilty">
        <code>{show(finding.function)}</code>
        <span class="where">{at || show(finding.module)}</span>
        {said.called && <span class="called">{show(said.called)}</span>}
      </p>
      <div class="evidence">
        <div class="words">
          <ul class="explanation">
            {said.explanation.map((sentence) => (
              <li key={sentence}>{show(sentence)}</li>
            ))}
          </ul>
          {said.path.length > 1 && <CallPath steps={said.path} />}
          {finding.files.length > 0 && <Files files={finding.files} />}
          <dl class="outcome">
            {said.gain && (
              <>
                <dt>Gain</dt>
                <dd class="gain">{show(said.gain)}</dd>
              </>
            )}
            {finding.advice && (
              <>
                <dt>Fix</dt>
                <dd>{show(finding.advice)}</dd>
              </>
            )}
          </dl>
        </div>
        <div class="plots">
          {finding.series.map((series) => (
            <Plot key={series.name} series={series} />
          ))}
          <Evidence finding={finding} />
          <When finding={finding} />
        </div>
      </div>
      <footer>
        {finding.basis !== "instructions" && (
          <>
            <span class="show-in">Highlight in</span>
            <button type="button" class="link" onClick={() => light("flame")}>
              flame graph
            </button>
            <button type="button" class="link" onClick={() => light("calls")}>
              calls
            </button>
            <button type="button" class="link" onClick={() => light("timeline")}>
              timeline
            </button>
            <button type="button" class="link" onClick={() => light("syscalls")}>
              system calls
            </button>
            <button type="button" class="link" onClick={() => light("processes")}>
              processes
            </button>
          </>
        )}
        <Facts finding={finding} />
      </footer>
    </article>
  );
}

/** The cost as a bar and in words. */
function Meter({ share: part, text }: { share: number; text: Shown }) {
  return (
    <div class="meter">
      <span>{text}</span>
      <div class="track" aria-hidden="true">
        <div class="fill" style={{ width: `${Math.max(1, Math.min(100, part * 100))}%` }} />
      </div>
    </div>
  );
}

function CallPath({ steps }: { steps: Finding["said"]["path"] }) {
  return (
    <p class="path">
      <span class="label">Path</span>
      {steps.map(({ frame, times }, i) => (
        <span key={i}>
          {i > 0 && <span class="arrow"> → </span>}
          <code title={[show(frame.module), place(frame.file, frame.line)].filter(Boolean).join(" · ")}>
            {show(frame.function)}
          </code>
          {times > 1 && <span class="times"> ×{times}</span>}
        </span>
      ))}
    </p>
  );
}

const FILES = 5;

function Files({ files }: { files: Finding["files"] }) {
  const [all, setAll] = useState(false);
  const { printing } = useLooking();
  const shown = all || printing ? files : files.slice(0, FILES);
  return (
    <p class="path">
      <span class="label">{files.length === 1 ? "File" : "Files"}</span>
      {shown.map(({ path }, i) => (
        <span key={path}>
          {i > 0 && ", "}
          <code>{show(path)}</code>
        </span>
      ))}
      {files.length > shown.length && (
        <button type="button" class="link" onClick={() => setAll(true)}>
          and {files.length - FILES} more
        </button>
      )}
    </p>
  );
}

const SURE = { exact: "counted", sampled: "from samples", fitted: "fitted" };

function Facts({ finding }: { finding: Finding }) {
  const { printing } = useLooking();
  const [open, setOpen] = useState(false);
  if (finding.facts.length === 0) return null;
  return (
    <details
      class="facts"
      open={open || printing}
      onToggle={(event) => !printing && setOpen(event.currentTarget.open)}
    >
      <summary>All numbers</summary>
      <table>
        <tbody>
          {finding.facts.map((fact) => (
            <tr key={fact.name}>
              <th scope="row">{show(fact.name)}</th>
              <td class="number">{quantity(fact.value, show(fact.unit))}</td>
              <td class="faint">
                {SURE[fact.sure]}, {show(fact.source)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

const HOT = 8;

/** Where the CPU time goes, or the instructions: the functions with the most in themselves. */
function Hot() {
  const { recording, go } = useLooking();
  const hot = recording.head.findings.hot.slice(0, HOT);
  if (hot.length === 0) return null;
  const counted = recording.head.about.instructions ?? null;
  const whole = Math.max(1, counted ?? recording.head.run.cpu_ns);
  const cost = counted === null ? time : count;
  return (
    <article class="hot">
      <h2>{counted === null ? "Where CPU time is spent" : "Where instructions are executed"}</h2>
      <table class="grid">
        <thead>
          <tr>
            <th class="number">self</th>
            <th class="number">share</th>
            <th class="number">total</th>
            <th>function</th>
            <th>where</th>
            <th>module</th>
          </tr>
        </thead>
        <tbody>
          {hot.map((row) => (
            <tr key={`${show(row.module)} ${show(row.function)} ${row.line}`}>
              <td class="number">{cost(row.self_instructions ?? row.self_ns)}</td>
              <td class="number">{share((row.self_instructions ?? row.self_ns) / whole)}</td>
              <td class="number">{cost(row.total_instructions ?? row.total_ns)}</td>
              <td>
                <button
                  type="button"
                  class="link code"
                  onClick={() =>
                    go({
                      view: "flame",
                      mode: "merged",
                      metric: "cpu",
                      search: exactly(show(row.function)),
                      finding: -1,
                      zoom: [],
                    })
                  }
                >
                  {show(row.function)}
                </button>
              </td>
              <td class="faint">{place(row.file, row.line)}</td>
              <td class="faint">{show(row.module)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </article>
  );
}

/** A search for this very name. */
export function exactly(name: Shown): string {
  return `/^${name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$/`;
}
