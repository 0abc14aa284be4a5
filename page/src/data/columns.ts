// Columns of numbers out of the page's data, into typed arrays. `crates/page/src/columns.rs` lays them out.

/** Where a column is and what it holds. */
export interface Place {
  /** Planes that are stored, 1 to 8: those above hold nothing. */
  width: number;
  /** Values. */
  length: number;
  /** First byte. */
  offset: number;
  /** Each value but the first is the difference to the one before. */
  delta: boolean;
  /** The 8 bytes are a floating-point number; else they are a whole one. */
  float: boolean;
}

/** A column of bytes. */
export function bytes(data: Uint8Array, place: Place): Uint8Array {
  return data.subarray(place.offset, place.offset + place.length);
}

/** A column of whole numbers below 2³². */
export function integers(data: Uint8Array, place: Place): Uint32Array {
  const { length, width, offset } = place;
  const values = new Uint32Array(length);
  for (let plane = 0; plane < Math.min(width, 4); plane++) {
    const at = offset + plane * length;
    const shift = 8 * plane;
    for (let i = 0; i < length; i++) values[i]! |= data[at + i]! << shift;
  }
  if (place.delta) for (let i = 1; i < length; i++) values[i]! += values[i - 1]!;
  return values;
}

/** A column of numbers that may need more than 32 bits. Whole ones above 2⁵³ are rounded. */
export function numbers(data: Uint8Array, place: Place): Float64Array {
  const { length, width, offset } = place;
  const values = new Float64Array(length);
  if (!place.float) {
    for (let plane = 0; plane < width; plane++) {
      const at = offset + plane * length;
      const times = 2 ** (8 * plane);
      for (let i = 0; i < length; i++) values[i]! += data[at + i]! * times;
    }
    return values;
  }
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < length; i++) {
    for (let plane = 0; plane < 8; plane++) view.setUint8(plane, data[offset + plane * length + i]!);
    values[i] = view.getFloat64(0, true);
  }
  return values;
}
