"""Runs the measurements and writes ``RESULTS.md``: ratios, with the machine, the versions and the date."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sqlite3
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from benchmarks.harness import Result, figure

SCRIPTS = (
    "single_write",
    "bulk_write",
    "read_one",
    "job_queue",
    "read_pages",
    "cold_start",
    "page_import",
    "dataset",
    "children",
    "pictures",
    "transfer",
    "segments",
    "segment_growth",
    "many_pages",
    "alto_export",
    "iiif_tile",
    "command_line",
    "gateway",
    "workflow_runs",
    "layout_jobs",
    "searching",
    "likeness",
    "knowing",
    "synced_folder",
    "finding_documents",
    "sheets",
    "alike_segments",
    "map_shapes",
    "recipe_facts",
    "recipe_runs",
    "bakeoffs",
    "teaching",
    "reading_at_scale",
)
"""In the order of the rows in README.md."""

HERE = Path(__file__).parent
PEERS = (
    "fastapi",
    "httpx",
    "uvicorn",
    "sqlalchemy",
    "pydantic",
    "lxml",
    "huey",
    "duckdb",
    "datasette",
    "rapidocr",
    "onnxruntime",
    "kraken",
    "ocrd",
    "pillow",
    "pyvips",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all or the named measurements; 1 when a limit is missed, 2 when a measurement could not be made."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(SCRIPTS)} (without: all)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement (5)")
    parser.add_argument("--json", type=Path, help="also write the results as JSON to this file")
    parser.add_argument("--no-report", action="store_true", help="leave RESULTS.md as it is")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in SCRIPTS]
    if unknown:
        parser.error(f"there is no measurement {unknown[0]}; there are {', '.join(SCRIPTS)}")
    if chosen.rounds < 1:
        parser.error("give at least one round")
    results, failed = _measure(chosen.names or SCRIPTS, chosen.rounds)
    if chosen.json:
        report = {"machine": machine(), "results": [result.as_json() for result in results], "failed": failed}
        chosen.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if not chosen.no_report:
        (HERE / "RESULTS.md").write_text(as_markdown(results, failed, chosen.rounds), encoding="utf-8")
    return 2 if failed else int(any(result.met is False for result in results))


def _measure(names: Sequence[str], rounds: int) -> tuple[list[Result], dict[str, str]]:
    results: list[Result] = []
    failed: dict[str, str] = {}
    for name in names:
        begun = time.monotonic()
        try:
            found: list[Result] = importlib.import_module(f"benchmarks.{name}").measure(rounds)
        except Exception as error:  # one measurement that cannot be made must not cost the others
            failed[name] = f"{type(error).__name__}: {error}"
            print(f"{name}: not measured: {failed[name]}", file=sys.stderr)
            continue
        results += found
        for result in found:
            print(result.sentence(), flush=True)
        print(f"  [{name}: {time.monotonic() - begun:.0f} s]", flush=True)
    return results, failed


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    import psutil

    versions = {}
    for name in PEERS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "armarium": metadata.version("armarium-core"),
        **versions,
    }


def as_markdown(results: Sequence[Result], failed: dict[str, str], rounds: int) -> str:
    """The report a person reads."""
    about = machine()
    versions = ", ".join(f"{name} {value}" for name, value in list(about.items())[4:])
    lines = [
        "# Results of the measurements",
        "",
        f"Written by `make bench` on {about['date']}: {about['system']}, {about['cores']} cores, {about['memory']}.",
        f"Versions: python {versions}." if not versions.startswith("python") else f"Versions: {versions}.",
        f"Each ratio is the median of {rounds} rounds in which engine and peer took turns; what each row means and "
        "why it has its limit is in [README.md](README.md).",
        "",
        "| row | what | ratio | limit | kept | engine | peer |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in results:
        limit = f"{result.bound} {result.limit:g}" if result.limit is not None else "stated"
        kept = {True: "yes", False: "**no**", None: ""}[result.met]
        lines.append(
            f"| {result.row} | {result.what} | {result.ratio:.2f} | {limit} | {kept} "
            f"| {figure(result.engine)} {result.unit} | {result.peer_name}: {figure(result.peer)} {result.unit} |"
        )
    notes = [f"- {result.what}: {result.note}" for result in results if result.note]
    if notes:
        lines += ["", *notes]
    if failed:
        lines += ["", "Not measured this time:", ""]
        lines += [f"- `{name}`: {why}" for name, why in failed.items()]
    return "\n".join(lines) + "\n"
