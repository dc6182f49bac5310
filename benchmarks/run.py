"""Runs the measurements and stores their results: ``results.json``, and ``RESULTS.md`` generated from it.

Each script's figures are stored with the machine, the versions and the date of their run, and are replaced when that
script is run again, so that one measurement can be repeated without the others.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sqlite3
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

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
    "metadata_tables",
    "children",
    "pictures",
    "transfer",
    "branches",
    "segments",
    "segment_growth",
    "many_pages",
    "past_reads",
    "alto_export",
    "iiif_tile",
    "command_line",
    "gateway",
    "workflow_runs",
    "layout_jobs",
    "reading_order",
    "searching",
    "content_search",
    "error_finding",
    "likeness",
    "knowing",
    "synced_folder",
    "record_exports",
    "volumes",
    "evidence",
    "sites",
    "finding_documents",
    "sheets",
    "alike_segments",
    "same_writer",
    "map_shapes",
    "recipe_facts",
    "recipe_runs",
    "bakeoffs",
    "agent_calls",
    "workbench",
    "training_loop",
    "teaching",
    "reading_hands",
    "reading_at_scale",
    "dask_shards",
    "installation",
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


KEPT = HERE / "results.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all or the named measurements; return 1 when a limit is missed, 2 when a measurement could not be taken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(SCRIPTS)} (without: all)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement (5)")
    parser.add_argument("--no-report", action="store_true", help="keep nothing: print the figures only")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in SCRIPTS]
    if unknown:
        parser.error(f"there is no measurement {unknown[0]}; there are {', '.join(SCRIPTS)}")
    if chosen.rounds < 1:
        parser.error("give at least one round")
    worst = 0
    for name in chosen.names or SCRIPTS:
        run = _measure(name, chosen.rounds)
        worst = max(
            worst, 2 if "failed" in run else int(any(result["met"] is False for result in run["results"]))
        )
        if not chosen.no_report:
            _keep(name, run)
    return worst


def _measure(name: str, rounds: int) -> dict[str, Any]:
    """Return one script's run as it is stored: its environment, and its results or why there are none."""
    begun = time.monotonic()
    run: dict[str, Any] = {"rounds": rounds, **machine()}
    try:
        found: list[Result] = importlib.import_module(f"benchmarks.{name}").measure(rounds)
    except Exception as error:  # one measurement that fails must not cost the others
        run["failed"] = f"{type(error).__name__}: {error}"
        print(f"{name}: not measured: {run['failed']}", file=sys.stderr)
        return run
    for result in found:
        print(result.sentence(), flush=True)
    print(f"  [{name}: {time.monotonic() - begun:.0f} s]", flush=True)
    return {**run, "results": [result.as_json() for result in found]}


def _keep(name: str, run: dict[str, Any]) -> None:
    """Replace the script's former run by *run*, unless it failed and the former one did not."""
    kept: dict[str, dict[str, Any]] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    if "failed" in run and "results" in kept.get(name, {}):
        return
    kept = {item: kept[item] for item in kept if item in SCRIPTS} | {name: run}
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "RESULTS.md").write_text(as_markdown(kept), encoding="utf-8")


def machine() -> dict[str, Any]:
    """Return what the figures were taken on."""
    import psutil

    versions = {}
    for name in PEERS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    memory = f"{psutil.virtual_memory().total / 2**30:.0f} GiB"
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory}",
        "versions": {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version, **versions},
    }


def as_markdown(kept: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the report for people: the rows in their order, with a mark for each of the runs they were taken in."""
    lines = [
        "# Results of the measurements",
        "",
        "Made of `results.json` by `make bench`. Each ratio is the median of several rounds in which engine and peer took turns;",
        "what a row means and why it has its limit is in [README.md](README.md), where and when it was taken at the end.",
        "",
        "| row | what | ratio | limit | kept | engine | peer | run |",
        "|---|---|---|---|---|---|---|---|",
    ]
    scripts = [name for name in SCRIPTS if name in kept]
    runs = _runs(kept, scripts)
    notes = []
    for name in scripts:
        for result in kept[name].get("results", ()):
            limit = f"{result['bound']} {result['limit']:g}" if result["limit"] is not None else "stated"
            met = {True: "yes", False: "**no**", None: ""}[result["met"]]
            unit = result["unit"]
            lines.append(
                f"| {result['row']} | {result['what']} | {result['ratio']:.2f} | {limit} | {met} | {figure(result['engine'])} {unit} "
                f"| {result['peer_name']}: {figure(result['peer'])} {unit} | {runs.index(_describe_run(kept[name])) + 1} |"
            )
            if result["note"]:
                notes.append(f"- {result['what']}: {result['note']}")
    lines += ["", *notes] if notes else []
    failed = [f"- `{name}`: {kept[name]['failed']}" for name in scripts if "failed" in kept[name]]
    lines += ["", "Not measured:", "", *failed] if failed else []
    lines += ["", "Runs:", "", *(f"{number}. {words}" for number, words in enumerate(runs, 1))]
    return "\n".join(lines) + "\n"


def _runs(kept: Mapping[str, Mapping[str, Any]], scripts: Sequence[str]) -> list[str]:
    """Return the different runs, in words, the oldest first."""
    return sorted({_describe_run(kept[name]) for name in scripts})


def _describe_run(run: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in run["versions"].items())
    return f"{run['date'][:10]}, {run['rounds']} rounds, {run['machine']}; {versions}"
