"""With the example beside it, finding says how sure it is of French documents; without it, it says why it does not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from armarium.api import Engine, Plugin
from armarium.principals import LOCAL_OWNER
from armarium_documents.plugin import armarium_plugin as documents
from armarium_finding.plugin import armarium_plugin as finding
from armarium_reading.plugin import armarium_plugin as reading
from armarium_source_model.plugin import armarium_plugin as source_model

PAGES = (
    "Ceci est mon testament.\nJe lègue ma maison à ma nièce",
    "et mes livres à la ville.\nFait à Pau, le 3 mai 1915",
    "Je, soussigné Pierre Durand, déclare révoquer tout autre testament.",
)


@pytest.fixture
def french_cues(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The example's module, which need not be installed."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).resolve().parents[1] / "src"), *sys.path])
    import armarium_french_cues

    return armarium_french_cues


def find(engine: Engine, place: Path) -> dict[str, Any]:
    """Find the documents of a folder of the pages, in a new project; the run's words and its proposal."""
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)

    def do(action: str, **params: Any) -> dict[str, Any]:
        return engine.run(library, action, params, LOCAL_OWNER).result or {}

    folder = do("document.create", name="Wills")["id"]
    for number, text in enumerate(PAGES):
        page = do("document.create", name=f"{number}.jpg", doc_type="page", parent_id=folder)["id"]
        lines = do("segment.pass_create", document_id=page, name="By hand")["id"]
        for row, words in enumerate(text.splitlines()):
            place_of = {"rect": [0.1, 0.1 + 0.1 * row, 0.8, 0.05]}
            line = do("segment.create", document_id=page, pass_id=lines, kind="line", anchor=place_of)["id"]
            do("representation.create", segment_id=line, text=words)
    job_id = do("finddocs.run", scope_ids=[folder])["job_id"]
    engine.jobs.run_until_idle(library)
    from armarium_finding.queries import read_proposal, read_run

    with library.db.read() as conn:
        run = read_run(conn, job_id)
        return {"words": run["words"], "documents": read_proposal(conn, run["proposal_ids"][0])["documents"]}


def test_rows_of_a_language_make_its_documents_known(
    french_cues: ModuleType, make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    ours: list[Plugin] = [documents(), source_model(), reading(), finding()]
    without = find(make_engine(plugins=ours), tmp_path / "Without.library")
    assert "no cue of any language matched" in without["words"]
    assert [document["confidence"] for document in without["documents"]] == [None]
    with_rows = find(make_engine(plugins=[*ours, french_cues]), tmp_path / "With.library")
    assert with_rows["words"] == "Ended with 1 proposal."
    assert [(document["kind"], len(document["page_ids"])) for document in with_rows["documents"]] == [
        ("Testament", 2),
        ("Testament", 1),
    ]
    # -2 (start) + 3 (will heading) + 2 (done at) = 3.
    assert with_rows["documents"][1]["confidence"] == pytest.approx(0.952574, abs=1e-6)
