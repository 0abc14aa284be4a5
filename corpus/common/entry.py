"""One entry of the corpus: its bug.toml, its folders, its half. Building is recipes.py's, running is measure.py's."""

import hashlib
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).resolve().parent.parent
VARIANTS = ("slow", "fixed")
KINDS = (
    "superlinear",
    "repeated-scan",
    "redundant-computation",
    "allocation",
    "files",
    "processes",
    "small-io",
    "sync",
    "waiting",
    "other",
)
REQUIRED = ("title", "component", "language", "registry", "slow", "fixed", "references", "kind", "expect", "run")


class BadEntry(Exception):
    """An entry that cannot be read: says which, and what is wrong with it."""


def cache_root() -> Path:
    """Where sources, programs and inputs go: SLOWPATH_CORPUS, by default ~/.cache/slowpath-corpus."""
    return Path(os.environ.get("SLOWPATH_CORPUS", Path.home() / ".cache" / "slowpath-corpus"))


def half(name: str) -> str:
    """`tuning` entries may be looked at while thresholds are set; `locked` ones only measure."""
    return "tuning" if hashlib.sha256(name.encode()).digest()[0] % 2 == 0 else "locked"


@dataclass
class Entry:
    """What bug.toml says, and where things are."""

    name: str
    folder: Path
    bug: dict

    @property
    def half(self) -> str:
        return half(self.name)

    @property
    def cache(self) -> Path:
        return cache_root() / self.name

    @property
    def input(self) -> Path:
        return self.cache / "input"

    def program(self, variant: str) -> Path:
        """The folder that holds the built program of `slow` or `fixed`."""
        return self.cache / variant

    def command(self, variant: str) -> list[str]:
        """The command to run, from the folder of the inputs."""
        places = {"program": self.program(variant) / "program", "dir": self.program(variant), "here": self.folder}
        return [part.format(**places) for part in self.bug["run"]["command"]]

    def environment(self, variant: str) -> dict[str, str]:
        """What the run adds to the environment."""
        return {k: v.format(dir=self.program(variant)) for k, v in self.bug["run"].get("env", {}).items()}


def load(name: str) -> Entry:
    folder = CORPUS / name
    try:
        bug = tomllib.loads((folder / "bug.toml").read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise BadEntry(f"{name}: {error}") from error
    missing = [field for field in REQUIRED if field not in bug]
    if missing:
        raise BadEntry(f"{name}: bug.toml lacks {', '.join(missing)}")
    if bug["kind"] not in KINDS:
        raise BadEntry(f"{name}: kind {bug['kind']!r} is none of {', '.join(KINDS)}")
    if not bug["expect"].get("functions") or bug["expect"].get("basis") not in ("cpu", "wall"):
        raise BadEntry(f"{name}: expect needs functions and a basis, cpu or wall")
    return Entry(name, folder, bug)


def names() -> list[str]:
    return sorted(path.parent.name for path in CORPUS.glob("*/bug.toml"))
