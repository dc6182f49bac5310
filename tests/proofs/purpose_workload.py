"""Recipes of five purposes as workloads for the fault tests.

Each has two drawn letters whose lines are known, a provider in the test's process that answers from the ground truth,
files and a site. Afterwards everything must exist once, and be undone as one set.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

from workloads import carry_on

from armarium.engine import Engine
from armarium.ids import new_id
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.rules.assembling import assemble
from armarium_recipes.schemas.recipe import Answers
from armarium_search.vectors.files import folder_of
from armarium_search.vectors.files import read as read_vectors
from armarium_testing.faults import Say, Workload

LETTERS = (
    ("Received of Mr Thomas Baker", "ten pounds for the mill", "Given at Bristol by Mary Cole"),
    ("Dear Mary the barley is in", "and John will bring the mare", "Yours Thomas Baker"),
)
TRUTH = [line for letter in LETTERS for line in letter]
SIZE = (700, 400)
PATIENCE = 120.0
"""Seconds that a whole run may take on a busy machine."""
ADDRESS = "ARMARIUM_TRUTHFUL_PROVIDER"
"""The environment variable with the provider's address."""
PROVIDER = "Ground truth with planted errors"
MADE = {
    "readings": "content_representation WHERE retracted = 0",
    "segments": "segment WHERE deleted_at IS NULL",
    "mentions": "mention",
    "entities": "entity",
    "artifacts": "artifact",
    "files kept": "export_kept",
    "sites": "export_site",
}


def _do(engine: Engine, library: Library | None, name: str, params: dict[str, Any]) -> dict[str, Any]:
    return engine.run(library, name, params, LOCAL_OWNER).result or {}


def _page(engine: Engine, library: Library, box: str, number: int, letter: tuple[str, ...]) -> None:
    """Create a drawn letter with its lines in place, as an import of shapes without text would."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", SIZE, 240)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(32)
    lines = []
    for row, text in enumerate(letter):
        top = 40 + 90 * row
        pen.text((40, top), text, 20, font)
        rect = [30 / SIZE[0], (top - 5) / SIZE[1], 640 / SIZE[0], 55 / SIZE[1]]
        lines.append({"key": str(row), "rect": rect})
    file = io.BytesIO()
    image.save(file, "PNG")
    shown = {
        "checksum": library.objects.put_bytes(file.getvalue()),
        "mime_type": "image/png",
        "size_bytes": file.tell(),
        "pixel_width": SIZE[0],
        "pixel_height": SIZE[1],
    }
    page = new_id()
    node = {"id": page, "parent_id": box, "doc_type": "file", "file_type": "image", "name": f"{number}.png"}
    _do(engine, library, "document.add_files", {"nodes": [{**node, "picture": shown}]})
    shapes = {"document_id": page, "name": "Shapes", "provider": "drawn", "model": "drawn"}
    _do(engine, library, "segment.take_lines", {**shapes, "lines": lines})


def _counts(library: Library) -> dict[str, int]:
    with library.db.read() as conn:
        return {
            what: int(conn.exec_driver_sql(f"SELECT count(*) FROM {where}").scalar_one())
            for what, where in MADE.items()
        }


def _vectors_are_whole(library: Library) -> list[str]:
    """Return faults of the vectors: each letter must have one, and there must be no incomplete ones."""
    vectors = read_vectors(library)
    with library.db.read() as conn:
        pages = set(conn.exec_driver_sql("SELECT id FROM document WHERE file_type = 'image'").scalars())
    wrong = [] if vectors is not None and set(vectors.documents) == pages else ["pages are without vectors"]
    names = [entry.name for entry in folder_of(library).parent.iterdir() if entry != folder_of(library)]
    return wrong + [f"half-made vectors lie about: {names}" for _ in names[:1]]


def purpose_workload(purpose: str) -> Workload:
    """Return a workload that starts the recipe for *purpose*, with files and a site, and runs it to its end."""

    def prepare(engine: Engine, library: Library, folder: Path) -> None:
        base = {"name": PROVIDER, "provider_type": "openai-compatible", "api_base": os.environ[ADDRESS]}
        identity = _do(engine, None, "provider.create", base)["id"]
        able = {"name": "Tiny", "model_id": "tiny", "capabilities": ["text", "vision"], "is_default": True}
        _do(engine, None, "provider.set_models", {"provider_id": identity, "models": [able]})
        box = _do(engine, library, "document.create", {"name": "Box", "doc_type": "folder"})["id"]
        for number, letter in enumerate(LETTERS):
            _page(engine, library, box, number, letter)
        (folder / "export").mkdir()
        answers = Answers(
            purposes=[purpose],
            languages=["en"],
            scripts=["Latn"],
            materials=["typescript"],
            layers=["output"],
        )
        recipe = assemble(engine, library, answers).recipe.model_dump(mode="json")
        for step in recipe["steps"]:
            if step["job"] in ("export", "publish"):
                step["settings"]["folder"] = str(folder / step["job"])
        _do(
            engine,
            library,
            "project.save_setup",
            {"answers": answers.model_dump(mode="json"), "recipe": recipe},
        )
        eyes = next(
            card.id
            for card in cards_here(engine, library)
            if card.provider == PROVIDER and "read-a-line" in card.jobs
        )
        _do(engine, library, "project.use_candidate", {"step": "read", "card": eyes})
        (folder.parent / "before.json").write_text(json.dumps(_counts(library)))

    def work(engine: Engine, library: Library, folder: Path, say: Say) -> None:
        engine.run(library, "project.start", {}, LOCAL_OWNER)
        say("started")
        engine.jobs.run_until_idle(library, PATIENCE)
        whole = folder.parent / "whole.json"
        with library.db.read() as conn:
            state = conn.exec_driver_sql("SELECT state FROM job WHERE kind = 'run-a-recipe'").scalar_one()
        if state == "done" and not whole.exists():
            # The first run is not interrupted: every other run must have the same results.
            whole.write_text(json.dumps(_counts(library)))

    def check(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
        before = json.loads((folder.parent / "before.json").read_text())
        whole = json.loads((folder.parent / "whole.json").read_text())
        with library.db.read() as conn:
            asked = "SELECT r.job_id, j.state, r.cards FROM recipes_run r JOIN job j ON j.id = r.job_id"
            runs = [tuple(row) for row in conn.exec_driver_sql(asked)]
        if not runs:
            return ["the run that was started is lost"] if "started" in said else []
        wrong = [] if len(runs) == 1 else [f"{len(runs)} runs are there"]
        ((job_id, state, cards), *_) = runs
        states = {load["id"]: load.get("state") for load in json.loads(cards)}
        if state != "done" or set(states.values()) != {"done"}:
            wrong.append(f"the run is {state}: {states}")
        if (counts := _counts(library)) != whole:
            wrong.append(f"it made {counts} and not {whole}")
        if "make-a-vector" in {load["job"] for load in json.loads(cards)}:
            wrong += _vectors_are_whole(library)
        if whole == before:
            wrong.append("a whole run made nothing")
        with library.db.read() as conn:
            asked = (
                "SELECT id FROM audit WHERE set_id = ? AND undoable = 1 AND undone = 0 AND inverse_of IS NULL"
            )
            steps = [row[0] for row in conn.exec_driver_sql(asked, (job_id,))]
        engine.undo(library, steps, LOCAL_OWNER)
        if (remaining_counts := _counts(library)) != before:
            wrong.append(f"taken back it leaves {remaining_counts} and not {before}")
        return wrong

    return Workload(plugins=lambda: None, prepare=prepare, work=work, check=check, finish=carry_on)


TRANSCRIBE = purpose_workload("transcribe")
ENTITIES = purpose_workload("entities")
SEARCH = purpose_workload("search")
TABLES = purpose_workload("tables")
TRANSLATE = purpose_workload("translate-normalise")
