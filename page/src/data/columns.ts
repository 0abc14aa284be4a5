// Columns of numbers out of the page's data, into typed arrays. `crates/page/src/columns.rs` lays them out.

/** Where a column is and what it holds. */
export interface Place {
  /** Bytes a value: 1, 4 or 8. */
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
  const { length, offset } = place;
  const values = new Uint32Array(length);
  for (let i = 0; i < length; i++) {
    values[i] =
      data[offset + i]! |
      (data[offset + length + i]! << 8) |
      (data[offset + 2 * length + i]! << 16) |
      (data[offset + 3 * length + i]! << 24);
  }
  if (place.delta) for (let i = 1; i < length; i++) values[i]! += values[i - 1]!;
  return values;
}

/** A column of 8-byte numbers. Whole ones above 2⁵³ are rounded. */
export function numbers(data: Uint8Array, place: Place): Float64Array {
  const { length, offset } = place;
  const values = new Float64Array(length);
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < length; i++) {
    for (let plane = 0; plane < 8; plane++) view.setUint8(plane, data[offset + plane * length + i]!);
    values[i] = place.float
      ? view.getFloat64(0, true)
      : view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  }
  return values;
}
