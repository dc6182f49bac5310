"""Samples for the examples of actions: pages with lines, and a trainer that only follows the protocol."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from armarium.api import Example, Principal, new_id
from armarium_layout.api import DETECTOR_MODELS, DETECTORS, Detector
from armarium_testing.sample_pages import sample_page, sample_picture
from armarium_training.compute import GROUP as COMPUTE
from armarium_training.compute import Compute, FarState, Shard
from armarium_training.staging import CARD, LINES, staging
from armarium_training.trainers import CONVERTERS, GROUP, Converter, Trainer

BY_HAND = "By hand"


class LoopbackTrainer(Trainer):
    """A trainer that only follows the protocol, in no runtime; given to an engine by examples and tests, where
    `armarium_testing` is installed.
    """

    name, label = "loopback", "Loopback"
    worker = "armarium_testing.loopback_trainers:LineTrainer"
    reader = "hand"


class LoopbackDetector(LoopbackTrainer):
    """The same for layout detectors."""

    name = "loopback-detector"
    card = "regions"
    worker = "armarium_testing.loopback_trainers:RegionTrainer"
    reader = DETECTOR_MODELS
    suffix = "config.json"
    measure = "map50"


class LoopbackFinder(Detector):
    """Finds the regions in the loopback trainer's model."""

    name, label = "loopback", "Loopback"
    worker = "armarium_testing.loopback_trainers:RegionTrainer"
    model_types = frozenset({"loopback"})


class LoopbackLora(LoopbackTrainer):
    """The same for vision models."""

    name = "loopback-lora"
    card = "vision-lora"
    worker = "armarium_testing.loopback_trainers:VisionTrainer"
    reader = "vision"
    suffix = "config.json"


class LoopbackConverter(Converter):
    """Changes nothing."""

    name, label = "loopback", "Loopback"
    worker = "armarium_testing.loopback_trainers:VisionTrainer"


class LoopbackHub(Compute):
    """A model hub that trains nothing: the base comes back unchanged; given to an engine by examples and tests."""

    name, label = "hub", "Loopback hub"
    needs_hub_token = True
    seconds_between = 0.0

    @classmethod
    def price_per_hour_usd(cls, flavor: str) -> float | None:
        """Return the price of the smallest class."""
        return 0.4 if flavor == "t4-small" else None

    def submit(self, shard: Shard, attempt: int) -> str:
        """Submit nothing; the result is put into the shard's folder."""
        base = shard.folder / "base.onnx"
        (shard.folder / "model.onnx").write_bytes(base.read_bytes() if base.exists() else b"model")
        return f"loopback-{attempt}"

    def ask(self, far_ids: Sequence[str]) -> dict[str, FarState]:
        """Report all as done."""
        return {far_id: FarState("done", None, ["trained"], {"model": "model.onnx"}) for far_id in far_ids}

    def cancel(self, far_ids: Sequence[str]) -> None:
        """Do nothing: nothing runs."""


def far_training(ex: Example) -> dict[str, Any]:
    """Return parameters of a training at a hub that trains nothing, with a token for it."""
    ex.engine.drivers.give(COMPUTE, LoopbackHub.name, LoopbackHub)
    owner = Principal("person", "owner", "owner", token_kind="owner", folders=None)
    stated = {"name": f"Hub {new_id()}", "provider_type": "model-hub", "api_base": "http://127.0.0.1:9"}
    result = ex.engine.run(None, "provider.create", stated, owner).result or {}
    ex.engine.run(
        None, "provider.set_key", {"provider_id": result["id"], "key": "hf_sample_0123456789"}, owner
    )
    given = {"scope_ids": [read_page(ex)], "teacher": BY_HAND, "base": "hand-base"}
    return {**given, "pages_may_leave": True}


def give_trainers(ex: Example) -> None:
    """Make them available to the engine of an example."""
    for one in (LoopbackTrainer, LoopbackDetector, LoopbackLora):
        ex.engine.drivers.give(GROUP, one.name, one)
    ex.engine.drivers.give(DETECTORS, LoopbackFinder.name, LoopbackFinder)
    ex.engine.drivers.give(CONVERTERS, LoopbackConverter.name, LoopbackConverter)


def vision(ex: Example) -> dict[str, Any]:
    """Return parameters of a local training of a vision model that only follows the protocol."""
    assert ex.library is not None
    give_trainers(ex)
    folder = ex.library.models / "vision" / "sample-8B"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text("{}", "utf-8")
    return {"scope_ids": [read_page(ex)], "teacher": BY_HAND, "base_repo": "sample-8B", "flavor": "local"}


def picture_page(ex: Example, shade: int = 235) -> str:
    """Create a page with a picture of dark rows; another *shade* is another picture."""
    from PIL import Image

    image = Image.new("L", (400, 300), shade)
    for top in range(30, 270, 60):
        for left in range(40, 360, 12):
            image.paste(30, (left, top, left + 4, top + 24))
    return sample_picture(ex, image)


def read_page(ex: Example, shade: int = 235) -> str:
    """Create a page with four lines read by a person."""
    page_id = picture_page(ex, shade)
    lines = [{"anchor": {"rect": [0.1, top / 300, 0.8, 0.1]}} for top in range(27, 267, 60)]
    sample_page(ex, [f"Line {number}" for number in range(4)], document_id=page_id, segments=lines)
    return page_id


def training(ex: Example) -> dict[str, Any]:
    """Return parameters of a training that only follows the protocol."""
    give_trainers(ex)
    return {"scope_ids": [read_page(ex)], "teacher": BY_HAND, "base": "hand-base", "epochs": 2}


def recipe_page(ex: Example) -> dict[str, Any]:
    """Create a page for the recipe job."""
    give_trainers(ex)
    return {"page_id": read_page(ex), "settings": {"epochs": 2}}


def regions(ex: Example) -> dict[str, Any]:
    """Return parameters of a detector's training: 20 regions on two pages, a third held out."""
    give_trainers(ex)
    pages = [picture_page(ex, shade) for shade in (230, 231, 232)]
    shapes = [{"rect": [0.1, 0.05 + number * 0.09, 0.8, 0.08]} for number in range(10)]
    regions = [{"kind": "region", "kind_raw": "text", "anchor": shape} for shape in shapes]
    for page_id in pages:
        sample_page(ex, document_id=page_id, segments=regions)
    return {"scope_ids": pages[:2], "held_out_ids": pages[2:], "epochs": 1}


def make_finished(ex: Example) -> str:
    """Create a finished training whose model can be taken in; return its id."""
    assert ex.library is not None
    job_id = new_id()
    folder = staging(ex.library, job_id)
    folder.mkdir(parents=True)
    (folder / LINES).write_text('{"lines": []}', "utf-8")
    (folder / "model.onnx").write_bytes(b"model")
    card = {
        "id": f"linereader-trained-{job_id}",
        "store": "hand",
        "kind": "linereader-reader",
        "display_name": "A sample",
        "job_id": job_id,
        "not_for_release": True,
        "trained_at": "2026-01-01T00:00:00.000Z",
        "trained_where": "this-machine",
        "evaluations": [],
    }
    (folder / CARD).write_text(json.dumps(card), "utf-8")
    return job_id


def make_landed(ex: Example) -> str:
    """Create a model that was taken in; return its id."""
    return str(ex.run("training.land", {"job_id": make_finished(ex)})["id"])


def failed_reading(ex: Example, params: dict[str, Any]) -> dict[str, Any]:
    """Create a reading at scale that has ended with a failed shard."""
    from armarium_training.models import shards

    assert ex.library is not None
    job_id = ex.run("reading.start_at_scale", params)["job_id"]
    ex.run("job.cancel", {"job_id": job_id})
    with ex.library.db.write() as conn:
        row = {"job_id": job_id, "number": 0, "state": "failed", "tries": 1, "last_lines": []}
        conn.execute(shards.insert().values(row))
    return {"job_id": job_id}
