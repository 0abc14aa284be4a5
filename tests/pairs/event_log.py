"""Writes a log of events; each line is flushed at once."""
import json, os, sys, tempfile

fixed = sys.argv[1:] == ["fixed"]
handle, path = tempfile.mkstemp()
with os.fdopen(handle, "w") as log:
    for number in range(150_000):
        print(json.dumps({"event": number, "kind": "seen"}), file=log, flush=not fixed)
print(os.path.getsize(path))
os.remove(path)
