"""Reads the frames of a telemetry downlink and says what each instrument sent. Usage: main.py DOWNLINK

A frame begins with a marker at any bit, then 4 bits for the instrument, 20 for the number of bits, and the bits themselves.
"""

import collections
import sys
import zlib

from bitarray import bitarray
from bitarray.util import ba2int

MARKER = bitarray("00011010110011111111110000011101", endian="big")


def frames(stream):
    at = stream.index(MARKER)
    while at + 56 <= len(stream):
        begin = at + len(MARKER)
        size = ba2int(stream[begin + 4 : begin + 24])
        yield ba2int(stream[begin : begin + 4]), stream[begin + 24 : begin + 24 + size]
        at = begin + 24 + size


def main(path):
    stream = bitarray(endian="big")
    with open(path, "rb") as file:
        stream.fromfile(file)
    stores = collections.defaultdict(lambda: bitarray(endian="big"))
    count = collections.Counter()
    for instrument, bits in frames(stream):
        stores[instrument].extend(bits)
        count[instrument] += 1
    for instrument, store in sorted(stores.items()):
        print(f"instrument {instrument}: {count[instrument]} frames, {len(store)} bits, {store.count()} set, checksum {zlib.crc32(store.tobytes()):08x}")


main(sys.argv[1])
