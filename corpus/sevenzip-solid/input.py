"""A solid 7z archive of log files: they are compressed as one stream."""

import lzma
import random
import struct
import zlib

FILES = 60
LINES = 1_100
DICTIONARY = 1 << 22


def number(value: int) -> bytes:
    """A number of 7z: the first byte says how many follow."""
    for extra in range(8):
        if value < 1 << (7 + 7 * extra):
            first = (0xFF << (8 - extra)) & 0xFF | value >> (8 * extra)
            return bytes([first]) + (value & ((1 << 8 * extra) - 1)).to_bytes(extra, "little")
    raise ValueError(value)


random.seed(1)
words = ["GET", "POST", "cart", "item", "login", "search", "timeout", "error", "user", "session"]
files = []
for day in range(FILES):
    lines = (f"{day:03} {line:05} {random.choice(words)} /{random.choice(words)}/{random.randrange(10**6)} {random.randrange(900)}\n" for line in range(LINES))
    files.append("".join(lines).encode())
content = b"".join(files)
coder = {"id": lzma.FILTER_LZMA1, "dict_size": DICTIONARY, "lc": 3, "lp": 0, "pb": 2, "preset": 3}
packed = lzma.compress(content, lzma.FORMAT_RAW, filters=[coder])

pack_info = b"\x06" + number(0) + number(1) + b"\x09" + number(len(packed)) + b"\x00"
folder = number(1) + b"\x23\x03\x01\x01" + number(5) + b"\x5d" + struct.pack("<I", DICTIONARY)
unpack_info = b"\x07\x0b" + number(1) + b"\x00" + folder + b"\x0c" + number(len(content)) + b"\x00"
sizes = b"".join(number(len(file)) for file in files[:-1])
checks = b"".join(struct.pack("<I", zlib.crc32(file)) for file in files)
sub_streams = b"\x08\x0d" + number(FILES) + b"\x09" + sizes + b"\x0a\x01" + checks + b"\x00"
names = b"\x00" + b"".join(f"day{day:03}.log\0".encode("utf-16-le") for day in range(FILES))
files_info = b"\x05" + number(FILES) + b"\x11" + number(len(names)) + names + b"\x00"
header = b"\x01\x04" + pack_info + unpack_info + sub_streams + b"\x00" + files_info + b"\x00"

start = struct.pack("<QQI", len(packed), len(header), zlib.crc32(header))
with open("logs.7z", "wb") as archive:
    archive.write(b"7z\xbc\xaf\x27\x1c\x00\x04" + struct.pack("<I", zlib.crc32(start)) + start + packed + header)
