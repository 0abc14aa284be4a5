// From the base64 text in the file to a recording in memory. Nothing is fetched.

import { Recording } from "./recording";

/** Every recording that the document holds: one, or two to compare. */
export async function loadAll(document: Document): Promise<Recording[]> {
  const elements = [...document.querySelectorAll('script[type="application/x-slowpath"]')];
  const recordings = elements.map(async (element) => {
    const data = await inflate(fromBase64(element.textContent ?? ""));
    element.remove(); // the text is not needed a second time
    return parse(data);
  });
  return Promise.all(recordings);
}

/** A recording from its bytes: the head's length, the head, the columns. */
export function parse(data: Uint8Array): Recording {
  if (data.length < 4)
    throw new Error("the page's data is empty: the file was truncated when it was written or copied");
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  return new Recording(head, data.subarray(4 + length));
}

async function inflate(data: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([data as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const data = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) data[i] = binary.charCodeAt(i);
  return data;
}
