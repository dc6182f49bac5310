"""The work on one shard: a reader reads its pages, or a trainer trains on its lines, in a worker process of its own."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from armarium_far_worker.published import NoPicture, fetch_picture
from armarium_worker import WorkerFailed, WorkerProcess, WorkerRefused

KEPT = ("lines", "readings", "width", "height")
"""The keys of a reader's answer that become part of the result."""
MOST_EPOCHS = 1_000
MAX_PIXELS = 200_000_000

Say = Callable[[str], None]


def do_work(
    task: Mapping[str, Any], data: Path, code: Path, say: Say, python: str | None = None
) -> dict[str, Any]:
    """Do what *task* says with the files in *data* and the packages it names in *code*; return its result.

    A reading returns {number, pages}, a training {model, curve, measured, files}, with paths relative to
    *data*. Raises WorkerDied if the process ended, WorkerRefused if a training was refused.
    """
    manifest = task["manifest"]
    worker = WorkerProcess(
        str(task["target"]),
        python=python or sys.executable,
        packages={name: _place(code, name) for name in task["packages"]},
        threads=int(task.get("threads") or _cores()),
        device="auto",
        network=bool(task.get("network")),
        environment=_environment(bool(task.get("network"))),
    )
    try:
        if manifest.get("work") == "train":
            return _train(worker, manifest, data, say)
        return _read(worker, manifest, data, say)
    except BaseException:
        for line in worker.stderr_lines[-5:]:
            say(line)
        raise
    finally:
        worker.kill()


def _cores() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _place(code: Path, name: str) -> Path:
    """Return where a package is, or a module that is a single file."""
    return code / name if (code / name).is_dir() else code / f"{name}.py"


def _environment(network: bool) -> dict[str, str]:
    """Return the environment; a worker that downloads nothing is not given the token."""
    return {"HF_HUB_OFFLINE": "0"} if network else {"HF_HUB_OFFLINE": "1", "HF_TOKEN": ""}


def _read(worker: WorkerProcess, manifest: Mapping[str, Any], data: Path, say: Say) -> dict[str, Any]:
    pages: dict[str, Any] = {}
    model = manifest.get("model_file")
    for number, page in enumerate(manifest["pages"], 1):
        params: dict[str, Any] = {
            "image": str(data / page["file"]),
            "model": str(data / model) if model else None,
            "language": manifest["language"],
            "max_pixels": MAX_PIXELS,
        }
        if page["lines"] is not None:
            params["lines"] = page["lines"]
        try:
            if "urls" in page:
                fetch_picture(page["urls"], data / page["file"])
            answer = worker.call("read_page" if page["lines"] is None else "read_lines", params)
        except (WorkerRefused, WorkerFailed, NoPicture) as error:
            say(f"{page['document_id']}: {error}")
            pages[page["document_id"]] = {"error": str(error)}
        else:
            pages[page["document_id"]] = {key: answer[key] for key in KEPT if key in answer}
            say(f"read {number} of {len(manifest['pages'])} pages")
    return {"number": manifest["number"], "pages": pages}


def _train(worker: WorkerProcess, manifest: Mapping[str, Any], data: Path, say: Say) -> dict[str, Any]:
    params: dict[str, Any] = {"folder": str(data), "batch_size": manifest.get("batch_size", 4)}
    if "rank" in manifest:
        params["rank"] = manifest["rank"]
    base = manifest.get("base")
    if base is not None:
        params["base"] = base if "repo" in base else {**base, "path": str(data / "base.onnx")}
    curve: list[dict[str, Any]] = []
    epoch: dict[str, Any] = {}
    seconds = 0.0
    while not _is_over(curve, manifest.get("epochs"), manifest.get("patience")):
        epoch = worker.call("epoch", {**params, "epoch": len(curve) + 1})
        curve.append({key: epoch[key] for key in ("epoch", "loss", "cer", "seconds", "best")})
        seconds += epoch["seconds"]
        say(f"epoch {len(curve)}: loss {epoch['loss']:.3f}, CER {epoch['cer']:.4f}, {epoch['seconds']:.0f} s")
    outcome = worker.call("finish", params)
    measured = {key: epoch[key] for key in ("peak_memory_mb", "added_memory_mb", "device", "threads")}
    model = Path(outcome["model"])
    files = [
        path
        for folder in manifest.get("results") or ()
        for path in (data / folder).rglob("*")
        if path.is_file()
    ]
    adapter = Path(outcome["adapter"]).parent if "adapter" in outcome else None
    return {
        "model": model.relative_to(data).as_posix(),
        "curve": curve,
        "measured": {**measured, "epochs": len(curve), "seconds": round(seconds, 2)},
        **{key: outcome[key] for key in ("letters", "new_letters") if key in outcome},
        "files": digests(files or [model], data),
        "stays": digests([path for path in adapter.rglob("*") if path.is_file()], data) if adapter else {},
    }


def _is_over(curve: list[dict[str, Any]], epochs: int | None, patience: int | None) -> bool:
    if epochs is not None:
        return len(curve) >= epochs
    best = max((number for number, point in enumerate(curve) if point["best"]), default=-1)
    return len(curve) >= MOST_EPOCHS or (len(curve) > 0 and len(curve) - 1 - best >= (patience or 1))


def digests(paths: list[Path], data: Path) -> dict[str, str]:
    """Return relative path to SHA-256."""
    return {path.relative_to(data).as_posix(): digest_of(path) for path in sorted(paths)}


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
