// What was recorded, on which machine, and what could not be seen.

import { useLooking } from "../context";
import type { Source, SourceOrigin } from "../data/head";
import { type Outsides, shellCommand, show, showAll } from "../shared/outside";
import { count, counted, share, time } from "../shared/units";
import { limitations } from "./limitations";

export function AboutView() {
  const { recording } = useLooking();
  const { about, run } = recording.head;
  const unseen = limitations(recording);
  const started = new Date(about.started_unix_ns / 1e6);
  const facts: [string, string][] = [
    ["command", shellCommand(about.command)],
    ["directory", show(about.directory)],
    ...run.facts.map(([name, value]): [string, string] => [show(name), show(value)]),
    [
      "recorded",
      started
        .toISOString()
        .replace("T", " ")
        .replace(/\.\d+Z$/, " UTC"),
    ],
    ["host", show(about.host)],
    ["processor", `${show(about.cpu)}, ${about.cpus} ${about.cpus === 1 ? "CPU" : "CPUs"}`],
    ["kernel", show(about.kernel)],
    ["recording", show(about.id)],
    ["slowpath", show(about.slowpath)],
    [
      "samples",
      `${count(recording.samples.time.length)}, ${show(run.coverage).replace(/^.*?samples?, /, "")}`,
    ],
  ];
  if (about.tracing_ns > 0) {
    const whole = Math.max(1, about.user_ns + about.sys_ns);
    facts.push([
      "recording overhead",
      `${time(about.tracing_ns)} of CPU time, ${share(about.tracing_ns / whole)}: excluded from all other figures`,
    ]);
  }
  return (
    <section class="about" aria-label="About">
      <h2>Recording</h2>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h2>Collectors</h2>
      <dl>
        {about.collectors.map((collector) => (
          <div key={collector.name}>
            <dt>{show(collector.name)}</dt>
            <dd>{show(collector.how)}</dd>
          </div>
        ))}
      </dl>
      <h2>Limitations</h2>
      {run.cut_short && <p class="warning">{show(run.cut_short)}</p>}
      {unseen.length === 0 && !run.cut_short ? (
        <p>No known limitations.</p>
      ) : (
        <ul>
          {unseen.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {recording.head.sources && <InPage files={recording.head.sources} origin={recording.head.source} />}
      <h2 class="keys">Keys</h2>
      <dl class="keys">
        {KEYS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Which source files leave with the page, and which do not. */
function InPage({ files, origin }: { files: Source[]; origin: SourceOrigin | undefined }) {
  const list = (names: Outsides, count: number) => (
    <details>
      <summary>{counted(count, "file")}</summary>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <code>{show(name)}</code>
          </li>
        ))}
        {count > names.length && <li>and {counted(count - names.length, "file")} more</li>}
      </ul>
    </details>
  );
  return (
    <>
      <h2>Source files in this page</h2>
      <dl class="sources">
        <div>
          <dt>included</dt>
          <dd>
            {list(
              files.map((file) => file.path),
              files.length,
            )}
          </dd>
        </div>
        {origin && origin.folders.length > 0 && (
          <div>
            <dt>read from</dt>
            <dd>{showAll(origin.folders, ", ")}</dd>
          </div>
        )}
        {origin?.left_out.map(({ why, count, first }) => (
          <div key={why}>
            <dt>excluded</dt>
            <dd>
              {show(why)}
              {list(first, count)}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

const KEYS: [string, string][] = [
  ["1 … 9", "the views, from left to right"],
  ["/", "search"],
  ["Escape", "in the flame graph: zoom out one frame; in the search: clear it; on a time strip: select all"],
  ["arrows", "in the flame graph: move between frames; on a time strip: move the range, with Shift its end"],
  ["Enter", "in the flame graph: zoom to the frame"],
  ["Home", "the whole flame graph"],
  ["s · c · f", "in the flame graph: callers and callees · copy the stack · flip it"],
];
