"""A folder with many files."""

import os

os.mkdir("mails")
for number in range(80_000):
    with open(f"mails/{number:05}.eml", "w") as file:
        file.write("x" * (number % 7))
    os.utime(f"mails/{number:05}.eml", (1_600_000_000 + number, 1_600_000_000 + number))
