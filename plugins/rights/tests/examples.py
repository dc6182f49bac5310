"""Examples of the actions and recipe jobs of rights: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example
from armarium_rights.queries import PROJECT


def rights_set(ex: Example) -> dict[str, Any]:
    folder = ex.run("document.create", {"name": "Letters"})["id"]
    return {
        "target_kind": "document",
        "target_id": folder,
        "holders": ["The family of the writer"],
        "consent": {"what": "Reading in the room", "by": "The family of the writer", "when": "2021-05"},
        "labels": ["In copyright"],
        "model_use": "local",
    }


def rights_withdraw(ex: Example) -> dict[str, Any]:
    return {
        "record_id": ex.run("rights.set", {"target_kind": PROJECT, "target_id": PROJECT, "labels": ["CC0"]})[
            "id"
        ]
    }


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "rights.set": rights_set,
    "rights.withdraw": rights_withdraw,
}
