"""`armarium undo` undoes everything a person started, not only its last part."""

from __future__ import annotations

from typing import Any

from armarium_cli.steps import _find_outermost_set


class _AuditLog:
    """A double of a client whose audit log has steps that started other work, as (id of that work, own set)."""

    def __init__(self, *steps: tuple[str, str | None]) -> None:
        self.steps = steps

    def get(self, path: str, *, target_id: str, **_: Any) -> dict[str, Any]:
        assert path == "/api/actions/audit"
        found = [{"set_id": own} for begun, own in self.steps if begun == target_id]
        return {"items": found, "total": len(found)}


def test_the_set_of_a_part_leads_to_the_set_of_the_whole() -> None:
    history: Any = _AuditLog(("read", "recipe"), ("find", "recipe"), ("deep", "read"), ("alone", None))
    assert _find_outermost_set(history, "deep") == "recipe"
    assert _find_outermost_set(history, "find") == "recipe"
    assert _find_outermost_set(history, "recipe") == "recipe"
    assert _find_outermost_set(history, "alone") == "alone"
