"""Checks the pictures of a camera: their sizes and sums."""

import sys
import zlib

from cbor2 import CBORDecodeEOF, CBORDecoder

with open(sys.argv[1], "rb") as stream:
    decoder = CBORDecoder(stream)
    while True:
        try:
            record = decoder.decode()
        except CBORDecodeEOF:
            break
        picture = record["picture"]
        print(f"picture {record['number']}: {len(picture)} bytes, sum {zlib.crc32(picture):08x}")
