"""Examples of the actions and recipe jobs of training: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import training_samples as samples

from armarium.api import Example, new_id


def evaluation_run(ex: Example) -> dict[str, Any]:
    return {
        "held_out_ids": [samples.read_page(ex)],
        "candidates": [{"model": "hand", "reader": "linereader"}],
    }


def provider(ex: Example) -> str:
    """Create a provider on this machine that is never asked: the example's job waits."""
    from armarium.api import Principal

    owner = Principal("person", "owner", "owner", token_kind="owner", folders=None)
    stated = {
        "name": f"Sample {new_id()}",
        "provider_type": "local-server",
        "api_base": "http://127.0.0.1:9/v1",
    }
    result = ex.engine.run(None, "provider.create", stated, owner).result or {}
    tiny = {"name": "Tiny", "model_id": "tiny", "capabilities": ["text", "vision"], "is_default": True}
    ex.engine.run(None, "provider.set_models", {"provider_id": result["id"], "models": [tiny]}, owner)
    return str(result["id"])


def training_gather_reasons(ex: Example) -> dict[str, Any]:
    page = samples.read_page(ex)
    return {"scope_ids": [page], "checked": samples.BY_HAND, "provider": provider(ex), "model": "tiny"}


def training_measure_reasons_ab(ex: Example) -> dict[str, Any]:
    given = training_gather_reasons(ex)
    one = {"provider": given["provider"], "model": "tiny", "arm": "answer"}
    contenders = [{**one, "label": "one", "role": "baseline"}, {**one, "label": "two", "role": "teacher"}]
    return {"checked": given["checked"], "held_out_ids": given["scope_ids"], "contenders": contenders}


def reading_start_at_scale(ex: Example) -> dict[str, Any]:
    return {"scope_ids": [samples.read_page(ex)], "card": "hand", "flavor": "local"}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "evaluation.run": evaluation_run,
    "training.gather_reasons": training_gather_reasons,
    "training.cancel_reasons": lambda ex: {
        "job_id": ex.run("training.gather_reasons", training_gather_reasons(ex))["job_id"]
    },
    "training.measure_reasons_ab": training_measure_reasons_ab,
    "training.start": lambda ex: samples.far_training(ex),
    "reading.start_at_scale": reading_start_at_scale,
    "reading.resend_failed": lambda ex: samples.failed_reading(ex, reading_start_at_scale(ex)),
    "reading.cancel_at_scale": lambda ex: {
        "job_id": ex.run("reading.start_at_scale", reading_start_at_scale(ex))["job_id"]
    },
    "training.land_page": lambda ex: {
        "document_id": samples.picture_page(ex),
        "checksum": "0" * 64,
        "name": "Read at scale",
        "provider": "hand",
        "model": "hand",
        "width": 400,
        "height": 300,
        "lines": [{"rect": [40, 30, 320, 24], "text": "Dear Sir"}],
    },
    "training.start_here": lambda ex: samples.training(ex),
    "training.start_regions_here": lambda ex: samples.regions(ex),
    "training.cancel": lambda ex: {"job_id": ex.run("training.start_here", samples.training(ex))["job_id"]},
    "training.land": lambda ex: {"job_id": samples.make_finished(ex)},
    "training.make_model_global": lambda ex: {"model": samples.make_landed(ex)},
    "training.start_vision_lora": lambda ex: samples.vision(ex),
    "train-a-model": samples.recipe_page,
}
