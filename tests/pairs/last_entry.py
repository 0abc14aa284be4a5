"""Numbers new entries of a file by its last one: the file is read from its start each time, or the number is kept."""
import os, sys, tempfile

fixed = sys.argv[1:] == ["fixed"]
handle, path = tempfile.mkstemp()
os.close(handle)
kept = 0


def next_number():
    global kept
    if not fixed:
        kept = 0
        with open(path) as file:
            for line in file:
                kept = int(line.split(",")[0])
    kept += 1
    return kept


for _ in range(1500):
    number = next_number()
    with open(path, "a") as file:
        file.write(f"{number},entry\n")
print(os.path.getsize(path))
os.remove(path)
