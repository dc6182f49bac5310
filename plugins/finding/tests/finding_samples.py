"""Samples for the examples of the actions, in an empty project: a folder of read pages, and its proposal."""

from __future__ import annotations

from typing import Any

from armarium.api import Example, json_text
from armarium_finding import store
from armarium_finding.cues import BUILTIN
from armarium_finding.evidence import look_at
from armarium_finding.proposing import propose
from armarium_source_model.api import text_fingerprint
from armarium_testing.sample_pages import sample_page

TEXTS = (
    "Madrid, 3 de mayo de 1950\nMuy señor mío:\nRecibí su carta del mes pasado y le agradezco sus noticias.",
    "Seguimos esperando la llegada del barco.\nAtentamente,\nFdo. Juan Pérez",
    "SENTENCIA\nEn la ciudad de Toledo se han visto los autos.",
)


def lettered_pages(ex: Example, texts: tuple[str, ...] = TEXTS) -> tuple[str, list[str]]:
    """Create a folder with a page for each text, each read line by line: (folder, pages)."""
    folder = str(ex.run("document.create", {"name": "Box 7"})["id"])
    pages = []
    for number, text in enumerate(texts, start=1):
        page = {"name": f"{number:04}.jpg", "doc_type": "page", "parent_id": folder}
        page_id = str(ex.run("document.create", page)["id"])
        sample_page(ex, text.splitlines(), document_id=page_id)
        pages.append(page_id)
    return folder, pages


def kept_params(folder: str, pages: list[str], texts: tuple[str, ...] = TEXTS) -> dict[str, Any]:
    """Return what a run over such a folder sends to be stored."""
    evidence = [
        look_at(page, text, is_read=True, table=BUILTIN) for page, text in zip(pages, texts, strict=True)
    ]
    proposal = propose(evidence)
    prints = {page: text_fingerprint(text) for page, text in zip(pages, texts, strict=True)}
    sent = store.sent_by_run(proposal, prints, None)
    return {"folder_id": folder, "proposal": json_text(sent)}


def make_proposal(ex: Example) -> tuple[str, str, list[str]]:
    """Create a folder with a proposal of two documents, of two pages and of one: (proposal, folder, pages)."""
    folder, pages = lettered_pages(ex)
    return str(ex.run("finddocs.propose", kept_params(folder, pages))["id"]), folder, pages


def example_of_accepted(ex: Example) -> tuple[str, str]:
    """Create a folder whose proposal was accepted: (proposal, folder)."""
    proposal_id, folder, _ = make_proposal(ex)
    ex.run("finddocs.accept", {"proposal_id": proposal_id})
    return proposal_id, folder
