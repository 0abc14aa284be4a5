// Text from outside: names, arguments, paths, sentences that hold them. The recorded program chose it, or who sent the recording.
//
// The data has it as `Outside`, which for the compiler is no text at all: it can be no child or attribute of an element, no part of a
// template, nothing on a canvas. `show` makes text of it in which control characters, those that change the order of others
// and those that show nothing are spelled out, as the reports do (`crates/report/src/escape.rs`).

/** Text from outside. At run time a string; there are no symbols in the page. */
export type Outside = symbol;

/** Several of them. They cannot be joined or put among texts: what is made of each is. */
export type Outsides = Omit<
  readonly Outside[],
  "join" | "toString" | "toLocaleString" | "slice" | "filter" | "concat" | typeof Symbol.iterator
> & { slice(start?: number, end?: number): Outsides };

declare const brand: unique symbol;

/** Text that can be shown. */
export type Shown = string & { readonly [brand]: true };

/** Beside control characters, by number: those that show nothing, or change the order or place of what is shown. */
const RANGES =
  "ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 2028-202e 2060-206f 3164 feff ffa0 fff0-fffb e0000-e0fff";
const HIDDEN = new RegExp(`[\\p{Cc}${RANGES.replace(/\w+/g, "\\u{$&}").replaceAll(" ", "")}]`, "gu");
const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function spelled(character: string): string {
  const code = character.codePointAt(0)!;
  const hex = code.toString(16);
  return SHORT[character] ?? (code < 0x100 && code !== 0xad ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`);
}

/** Text from outside as it can be shown. What is shown already stays as it is. */
export function show(text: Outside | string): Shown {
  return raw(text as Outside).replace(HIDDEN, spelled) as Shown;
}

/** A line of source, in which tabs are tabs. */
export function showLine(line: Outside): Shown {
  return raw(line).replace(HIDDEN, (character) =>
    character === "\t" ? character : spelled(character),
  ) as Shown;
}

/** Something between several texts. */
export function showAll(texts: Outsides, between: string): Shown {
  return show(texts.map((text) => show(text)).join(between));
}

/** The text itself: only for what nobody reads. */
export function raw(text: Outside): string {
  return text as unknown as string;
}

/** Text that comes another way than with the data, such as in a link. */
export function outside(text: string): Outside {
  return text as unknown as Outside;
}

/** The last part of a path. */
export function baseName(path: Outside): Outside {
  const text = raw(path);
  return outside(text.slice(text.lastIndexOf("/") + 1));
}

/** The lines of a text. */
export function lines(text: Outside): Outside[] {
  return raw(text)
    .split(/\r?\n/)
    .map((line) => outside(line));
}

/** A command line as a shell takes it. What cannot be shown becomes `$'\033'`, which is the same word to bash and zsh. */
export function shellCommand(words: Outsides): Shown {
  return show(words.map(shellWord).join(" "));
}

function shellWord(word: Outside): string {
  const text = raw(word);
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (show(word) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  const bytes = (character: string) =>
    // Three octal digits: unlike \x, they cannot swallow a digit that follows.
    [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  return `$'${text.replace(/['\\]/g, "\\$&").replace(HIDDEN, bytes)}'`;
}
