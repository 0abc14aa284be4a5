"""Waits for a worker's results by looking for its file from time to time, or by waiting for the worker itself."""
import os, subprocess, sys, tempfile, time

fixed = sys.argv[1:] == ["fixed"]
folder = tempfile.mkdtemp()
total = 0
for number in range(12):
    path = os.path.join(folder, f"result{number}")
    worker = subprocess.Popen(["sh", "-c", f"echo {number} > {path}.part; mv {path}.part {path}"])
    if not fixed:
        while not os.path.exists(path):
            time.sleep(0.1)
    worker.wait()
    with open(path) as file:
        total += int(file.read())
    os.remove(path)
os.rmdir(folder)
print(total)
