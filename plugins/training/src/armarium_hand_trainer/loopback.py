"""A trainer's worker that learns nothing and needs nothing: it only follows the protocol, so that everything
else can be tested.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armarium_worker import Call, Handler, Refused, WorkerContext, write_whole


class Loopback:
    """Answers `epoch` and `finish` as a trainer does; the error rate falls for three epochs and then stays
    the same.

    A file `slow`, `refuse` or `die` next to the folder of the training makes it take a second per epoch,
    refuse, or exit.
    """

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of a trainer's worker."""
        return {"epoch": epoch, "finish": finish}


def epoch(call: Call) -> dict[str, Any]:
    """Do the epoch with the number *epoch*, recorded in a file."""
    folder, number = Path(call.params["folder"]), int(call.params["epoch"])
    path = folder / "checkpoint.json"
    done: list[dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else []
    told = json.loads((folder / "lines.json").read_text("utf-8"))
    items = told["lines"]
    if (folder.parent / "refuse").exists():
        raise Refused("The lines cannot be taught.")
    while len(done) < number:
        for step in range(10):
            call.check()
            call.progress(step, 10)
            if (folder.parent / "slow").exists():
                time.sleep(0.1)
        if (folder.parent / "die").exists():
            (folder.parent / "die").unlink()
            os._exit(9)
        now = len(done) + 1
        done.append(
            {
                "epoch": now,
                "loss": 1 / now,
                "cer": 0.5 / min(now, 3),
                "lines": len(items),
                "seconds": 0.01,
                "best": now <= 3,
                "device": "cpu",
                "threads": 1,
                "peak_memory_mb": 10,
                "added_memory_mb": 1,
            }
        )
        write_whole(path, json.dumps(done).encode())
    return done[number - 1]


def finish(call: Call) -> dict[str, Any]:
    """Write a copy of the base with its letters in the file, as in a trained model; a few bytes if there is no base."""
    folder = Path(call.params["folder"])
    target = folder / "model.onnx"
    base = call.params.get("base") or {}
    if not base:
        target.write_bytes(b"model")
        return {"model": str(target)}
    data = Path(base["path"]).read_bytes()
    if b"calibration" not in data:
        # A protobuf message can be extended by appending to it: here two properties of the model.
        for name in ("alphabet", "calibration"):
            data += _field(0x72, _field(0x0A, name.encode()) + _field(0x12, json.dumps(base[name]).encode()))
    target.write_bytes(data)
    return {"model": str(target)}


def _field(tag: int, data: bytes) -> bytes:
    """Encode a protobuf field that contains bytes."""
    size, left = bytearray(), len(data)
    while left > 127:
        size.append(left % 128 + 128)
        left //= 128
    return bytes([tag, *size, left]) + data
