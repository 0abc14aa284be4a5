"""Sums up the readings of each sensor of a stream of CBOR records. The stream is not buffered: it may be a device."""

import sys
from collections import Counter

from cbor2 import CBORDecodeEOF, CBORDecoder

sums = Counter()
records = 0
with open(sys.argv[1], "rb", buffering=0) as stream:
    decoder = CBORDecoder(stream)
    while True:
        try:
            record = decoder.decode()
        except CBORDecodeEOF:
            break
        records += 1
        sums[record["sensor"]] += sum(record["values"])
for sensor, total in sorted(sums.items()):
    print(f"{sensor}: {total}")
print(f"{records} records")
