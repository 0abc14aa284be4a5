// Pictures for paper. They are drawn beside the document and put into their canvas at once: what is drawn on a canvas itself while a page
// is being printed, Chromium replays at a scale that it cuts to 64ths, and it comes out too small.

/** Pixels of a picture for each that it is drawn in: paper is finer than a screen. */
const RATIO = 2;

export function picture(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  draw: (context: CanvasRenderingContext2D) => void,
): void {
  const beside = new OffscreenCanvas(width * RATIO, height * RATIO);
  const context = beside.getContext("2d");
  if (!context) return;
  context.scale(RATIO, RATIO);
  // It lacks only what has to do with the document.
  draw(context as unknown as CanvasRenderingContext2D);
  canvas.width = width * RATIO;
  canvas.height = height * RATIO;
  canvas.getContext("bitmaprenderer")?.transferFromImageBitmap(beside.transferToImageBitmap());
}
