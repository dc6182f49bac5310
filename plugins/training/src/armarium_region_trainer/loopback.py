"""A worker of a trainer and a detector that learns nothing and needs nothing: it only follows the protocol,
so that everything else can be tested.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armarium_worker import Call, Handler, Refused, WorkerContext, write_whole

KIND = "loopback"
"""The `model_type` of its models."""


class Loopback:
    """Answers `epoch` and `finish` as a trainer does (the third epoch is the best), and `find_regions` as a detector does."""

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of a trainer's worker and of a detector's."""
        return {"epoch": epoch, "finish": finish, "find_regions": find_regions}


def epoch(call: Call) -> dict[str, Any]:
    """Do the epoch with the number *epoch*."""
    call.check()
    number = int(call.params["epoch"])
    parts = [page["part"] for page in _pages(call)]
    return {
        "epoch": number,
        "loss": 1 / number,
        "map50": 0.25 * min(number, 3),
        "lines": parts.count("taught"),
        "seconds": 0.01,
        "best": number <= 3,
        "device": "cpu",
        "threads": 1,
        "peak_memory_mb": 10,
        "added_memory_mb": 1,
    }


def finish(call: Call) -> dict[str, Any]:
    """Write a folder whose model contains the regions of the first page it was trained on."""
    folder = Path(call.params["folder"])
    pages = _pages(call)
    regions = next(page["regions"] for page in pages if page["part"] != "held-out")
    held = [page for page in pages if page["part"] == "held-out" and page["regions"]]
    target = folder / "model" / "config.json"
    target.parent.mkdir(exist_ok=True)
    told = {"model_type": KIND, "regions": regions, "base": call.params.get("base")}
    write_whole(target, json.dumps(told).encode())
    return {
        "model": str(target),
        "map50": 0.75 if held else None,
        "held_out_pages": len(held),
        "classes": sorted({region["class"] for region in regions}),
    }


def find_regions(call: Call) -> dict[str, Any]:
    """Return the model's regions, each with a lower score than the one before, down to the least score."""
    path = Path(str(call.params["model"]))
    if not path.is_file():
        raise Refused("The detector's model no longer exists.")
    regions = json.loads(path.read_text("utf-8"))["regions"]
    told = [{**one, "score": 1 / number} for number, one in enumerate(regions, 1)]
    at_least = call.params["at_least"]
    return {"regions": [one for one in told if one["score"] >= (0.4 if at_least is None else at_least)]}


def _pages(call: Call) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads((Path(call.params["folder"]) / "lines.json").read_text("utf-8"))[
        "pages"
    ]
    return told
