"""Makes an entry's input, runs its two programs once each, and compares output and time."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .entry import CORPUS, VARIANTS, Entry

FACTOR = 2.0
MEASURED = CORPUS / "measured.json"


class NotConfirmed(Exception):
    """The entry does not show what it says: other output, or too small a difference."""


@dataclass
class Run:
    """One run: wall and CPU time in seconds (with its child processes), and what it wrote to standard output."""

    wall: float
    cpu: float
    output: bytes


def make_input(entry: Entry) -> None:
    """Runs the entry's input.py in a fresh folder."""
    shutil.rmtree(entry.input, ignore_errors=True)
    entry.input.mkdir(parents=True)
    script = entry.folder / "input.py"
    if script.exists():
        subprocess.run([sys.executable, str(script)], cwd=entry.input, check=True)


def run_once(entry: Entry, variant: str) -> Run:
    out = entry.cache / f"{variant}.out"
    # Each run gets its own copy of the input: a program may change it.
    work = entry.cache / f"{variant}-work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(entry.input, work, symlinks=True)
    with out.open("wb") as stdout:
        start = time.monotonic()
        child = subprocess.Popen(
            entry.command(variant),
            cwd=work,
            env={**os.environ, **entry.environment(variant)},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - start
    if child.returncode != 0:
        raise NotConfirmed(f"{entry.name}: the {variant} program ended with {child.returncode}")
    return Run(wall, usage.ru_utime + usage.ru_stime, out.read_bytes())


def check(entry: Entry) -> str:
    """Runs both and records the times; says them in one line, or raises NotConfirmed."""
    slow, fixed = (run_once(entry, variant) for variant in VARIANTS)
    if slow.output != fixed.output and "output_differs" not in entry.bug["run"]:
        raise NotConfirmed(f"{entry.name}: the outputs differ; see {entry.cache}/slow.out and fixed.out")
    if not slow.output:
        raise NotConfirmed(f"{entry.name}: the program wrote nothing, so nothing was compared")
    basis = entry.bug["expect"]["basis"]
    before, after = getattr(slow, basis), getattr(fixed, basis)
    said = f"{entry.name}: slow {before:.2f} s, fixed {after:.2f} s {basis} time"
    if before < FACTOR * after:
        raise NotConfirmed(f"{said}: less than {FACTOR:g} times")
    record(entry, basis, before, after)
    return said


def record(entry: Entry, basis: str, slow: float, fixed: float) -> None:
    times = measured()
    times[entry.name] = {"basis": basis, "slow": round(slow, 2), "fixed": round(fixed, 2)}
    MEASURED.write_text(json.dumps(times, indent=1, sort_keys=True) + "\n")


def measured() -> dict:
    return json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
