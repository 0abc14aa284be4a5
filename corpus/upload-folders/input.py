"""Folders of uploaded pictures; the files are empty here."""

import os

for day in range(1, 31):
    folder = f"uploads/june/{day:02}"
    os.makedirs(folder)
    for number in range(900):
        with open(f"{folder}/picture-{number:05}.jpg", "w"):
            pass
