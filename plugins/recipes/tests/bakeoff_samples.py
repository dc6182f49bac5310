"""Sample projects for the examples of actions: two pages with corrected lines, and a finished bake-off."""

from __future__ import annotations

from typing import Any

from armarium.api import Example, new_id, now
from armarium_recipes.bakeoffs.contenders import Contender
from armarium_recipes.bakeoffs.rows import row_of
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.models_bakeoffs import bakeoffs
from armarium_testing.sample_pages import sample_picture

LINES = 50
ANSWERS = {"purposes": ["transcribe"], "languages": ["en"], "scripts": ["Latn"], "materials": ["typescript"]}
STEPS = [
    {"id": "find-lines", "job": "find-lines", "layer": "lines"},
    {"id": "read", "job": "read-a-line", "layer": "reading", "applies_to": "lines"},
]


def set_up(ex: Example) -> None:
    """Answer the questions of setup, and save a recipe that finds lines and reads them."""
    recipe = {"id": "letters", "title": "Letters", "steps": STEPS}
    ex.run("project.save_setup", {"answers": ANSWERS, "recipe": recipe})


def corrected_project(ex: Example) -> dict[str, Any]:
    """Create a project that is set up and has two pages whose lines are a ground truth."""
    from PIL import Image

    set_up(ex)
    pages = []
    for number in range(2):
        page = sample_picture(ex, Image.new("L", (200, 1000), 250 - number), f"{number}.png")
        lines = [
            {"key": str(row), "rect": [0.1, row / LINES, 0.8, 0.8 / LINES], "text": f"Line {row}"}
            for row in range(LINES)
        ]
        result = ex.run(
            "segment.take_lines",
            {"document_id": page, "name": "Checked", "provider": "sample", "model": "sample", "lines": lines},
        )
        ex.run("segment.pass_ground_truth", {"pass_id": result["pass_id"], "ground_truth": True})
        pages.append(page)
    return {"page_ids": pages}


def finished_bakeoff(ex: Example) -> dict[str, Any]:
    """Create a finished bake-off of line finders."""
    assert ex.library is not None
    set_up(ex)
    card = next(card for card in cards_here(ex.engine, ex.library) if card.id.startswith("linereader:blla"))
    bakeoff_id = new_id()
    row = {
        "id": bakeoff_id,
        "step": "find-lines",
        "started_at": now(),
        "material": "typescript",
        "volume": 2,
        "pages": [],
        "left_out": [],
        "lines": 100,
        "candidates": [row_of(Contender(card, "linereader", "contender"), 2)],
        "promote": 0,
        "outcome": {"rows": {card.id: {"lines_found": 98, "lines_checked": 100, "extra_lines": 1}}},
    }
    with ex.library.db.write() as conn:
        conn.execute(bakeoffs.insert().values(row))
    return {"bakeoff_id": bakeoff_id, "card": card.id}
