"""`armarium undo` undoes the whole of what a person began, not only its last part."""

from __future__ import annotations

from typing import Any

from armarium.cli.steps import _outermost


class _History:
    """Steps that name the work they began, as (id of that, own set)."""

    def __init__(self, *steps: tuple[str, str | None]) -> None:
        self.steps = steps

    def get(self, path: str, *, target_id: str, **_: Any) -> dict[str, Any]:
        assert path == "/api/actions/audit"
        found = [{"set_id": own} for begun, own in self.steps if begun == target_id]
        return {"items": found, "total": len(found)}


def test_the_set_of_a_part_leads_to_the_set_of_the_whole() -> None:
    history: Any = _History(("read", "recipe"), ("find", "recipe"), ("deep", "read"), ("alone", None))
    assert _outermost(history, "deep") == "recipe"
    assert _outermost(history, "find") == "recipe"
    assert _outermost(history, "recipe") == "recipe"
    assert _outermost(history, "alone") == "alone"
