"""How each registry's packages become a slow and a fixed program. Only the registries' own clients fetch anything.

cargo   the driver is a crate of one file; the component is a dependency of exactly one version
go      the driver is a module of one file; the component is required at exactly one version
pip     the component is installed from its source into a folder; the driver is a Python script
source  the sources come from a crate, an npm tarball or a PyPI sdist, and the entry's own commands compile them
"""

import os
import shutil
import subprocess
from pathlib import Path

from .entry import Entry, cache_root


class BuildFailed(Exception):
    """A command of a recipe failed: says which entry and which command."""


def run(entry: Entry, command: list[str], cwd: Path, env: dict[str, str] | None = None) -> None:
    log = entry.cache / "build.log"
    with log.open("a") as out:
        out.write(f"$ {' '.join(command)}\n")
        out.flush()
        done = subprocess.run(command, cwd=cwd, env={**os.environ, **(env or {})}, stdout=out, stderr=out, check=False)
    if done.returncode != 0:
        raise BuildFailed(f"{entry.name}: `{' '.join(command)}` failed with {done.returncode}; see {log}")


def build(entry: Entry, variant: str) -> None:
    """Leaves the program in `entry.program(variant)`; nothing of an earlier build stays there."""
    out = entry.program(variant)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    recipes = {"cargo": cargo, "go": go, "pip": pip, "source": source}
    table = next((kind for kind in recipes if kind in entry.bug), None)
    if table is None:
        raise BuildFailed(f"{entry.name}: bug.toml has none of the tables {', '.join(recipes)}")
    recipes[table](entry, variant, entry.bug[table], out)


def work_folder(entry: Entry, variant: str) -> Path:
    work = entry.cache / f"{variant}-src"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    return work


def lock(entry: Entry, variant: str, work: Path, file: str) -> None:
    """The versions of indirect dependencies stay as they were when the entry was made."""
    kept = entry.folder / f"{variant}.{file}"
    if kept.exists():
        shutil.copy(kept, work / file)


def keep_lock(entry: Entry, variant: str, work: Path, file: str) -> None:
    kept = entry.folder / f"{variant}.{file}"
    if not kept.exists():
        shutil.copy(work / file, kept)


def cargo(entry: Entry, variant: str, table: dict, out: Path) -> None:
    work = work_folder(entry, variant)
    (work / "src").mkdir()
    shutil.copy(entry.folder / table.get("driver", "main.rs"), work / "src" / "main.rs")
    dependency = {"version": f"={entry.bug[variant]}", **table.get("with", {})}
    lines = [
        "[package]",
        f'name = "{entry.name}-{variant}"',
        'version = "0.0.0"',
        'edition = "2021"',
        "[features]",
        "fixed = []",
        "[dependencies]",
        f"{entry.bug['component']} = {inline(dependency)}",
        *(f"{name} = {inline(value)}" for name, value in table.get("dependencies", {}).items()),
        "[workspace]",
    ]
    (work / "Cargo.toml").write_text("\n".join(lines) + "\n")
    lock(entry, variant, work, "Cargo.lock")
    target = cache_root() / "cargo-target"
    command = ["cargo", "build", "--release", "--quiet"]
    if variant == "fixed":
        command += ["--features", "fixed"]
    env = {"CARGO_TARGET_DIR": str(target), **table.get("env", {})}
    run(entry, command, work, env)
    keep_lock(entry, variant, work, "Cargo.lock")
    shutil.copy(target / "release" / f"{entry.name}-{variant}", out / "program")


def inline(value: object) -> str:
    """A TOML value on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {inline(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return '"' + str(value) + '"'


def go(entry: Entry, variant: str, table: dict, out: Path) -> None:
    work = work_folder(entry, variant)
    shutil.copy(entry.folder / table.get("driver", "main.go"), work / "main.go")
    if (entry.folder / f"{variant}.go.mod").exists():
        lock(entry, variant, work, "go.mod")
        lock(entry, variant, work, "go.sum")
    else:
        run(entry, ["go", "mod", "init", f"corpus/{entry.name}"], work)
        module = table.get("module", entry.bug["component"])
        run(entry, ["go", "get", f"{module}@v{entry.bug[variant]}"], work)
        for other in table.get("dependencies", []):
            run(entry, ["go", "get", other], work)
        run(entry, ["go", "mod", "tidy"], work)
        keep_lock(entry, variant, work, "go.mod")
        keep_lock(entry, variant, work, "go.sum")
    run(entry, ["go", "build", "-o", str(out / "program"), "."], work)


def pip(entry: Entry, variant: str, table: dict, out: Path) -> None:
    component = entry.bug["component"]
    package = f"{component}=={entry.bug[variant]}"
    others = table.get("dependencies", [])
    command = ["python3", "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(out / "lib")]
    if others:
        run(entry, [*command, *others], entry.cache)
    command += ["--no-deps", "--no-binary", component, "--no-cache-dir", package]
    run(entry, command, entry.cache, table.get("env"))


def source(entry: Entry, variant: str, table: dict, out: Path) -> None:
    work = work_folder(entry, variant)
    package, version = table.get("package", entry.bug["component"]), entry.bug[variant]
    FETCH[entry.bug["registry"]](entry, package, version, work)
    compile_in(entry, table, work, out)


def compile_in(entry: Entry, table: dict, work: Path, out: Path) -> None:
    places = {"src": work / "src", "out": out, "here": entry.folder}
    for command in table["commands"]:
        run(entry, ["sh", "-ec", command.format(**places)], work / "src")


def from_cargo(entry: Entry, package: str, version: str, work: Path) -> None:
    (work / "lib.rs").touch()
    (work / "Cargo.toml").write_text(
        '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n'
        f'[dependencies]\n{package} = "={version}"\n[workspace]\n'
    )
    run(entry, ["cargo", "vendor", "--quiet", "vendor"], work)
    shutil.move(work / "vendor" / package, work / "src")


def from_npm(entry: Entry, package: str, version: str, work: Path) -> None:
    run(entry, ["npm", "pack", "--silent", f"{package}@{version}"], work)
    run(entry, ["sh", "-ec", "tar xf *.tgz && mv package src"], work)


def from_pypi(entry: Entry, package: str, version: str, work: Path) -> None:
    command = ["python3", "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", f"{package}=={version}"]
    run(entry, command, work)
    run(entry, ["sh", "-ec", "mkdir src && (tar xf *.tar.* -C src --strip-components=1 || (unzip -q *.zip && rmdir src && mv */ src))"], work)


FETCH = {"crates.io": from_cargo, "npm": from_npm, "pypi": from_pypi}
