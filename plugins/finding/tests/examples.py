"""Examples of the actions and recipe jobs of finding: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from finding_samples import example_of_accepted, kept_params, lettered_pages, make_proposal

from armarium.api import Example


def finddocs_adjust(ex: Any) -> dict[str, Any]:
    proposal_id, _, pages = make_proposal(ex)
    return {"proposal_id": proposal_id, "change": {"op": "split", "document_index": 0, "page_id": pages[1]}}


def finddocs_propose(ex: Example) -> dict[str, Any]:
    folder, pages = lettered_pages(ex)
    return kept_params(folder, pages)


def finddocs_score(ex: Example) -> dict[str, Any]:
    return {"folder_id": example_of_accepted(ex)[1]}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "finddocs.adjust": finddocs_adjust,
    "finddocs.accept": lambda ex: {"proposal_id": make_proposal(ex)[0]},
    "finddocs.reject": lambda ex: {"proposal_id": make_proposal(ex)[0], "document_indexes": [1]},
    "finddocs.run": lambda ex: {"scope_ids": [lettered_pages(ex)[0]]},
    "finddocs.propose": finddocs_propose,
    "finddocs.score": finddocs_score,
    "find-documents-in-a-folder": lambda ex: {"page_id": lettered_pages(ex)[1][0]},
}
