"""Examples of the actions and recipe jobs of model jobs: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example
from armarium_model_jobs.queries import signs_of
from armarium_testing.sample_model_pages import read_page, signed_page, with_provider


def model_jobs_take_signs(ex: Example) -> dict[str, Any]:
    assert ex.library is not None
    page_id = signed_page(ex)["page_id"]
    with ex.library.db.read() as conn:
        pass_id, rows = signs_of(conn, page_id)
    return {
        "document_id": page_id,
        "pass_id": pass_id,
        "provider": "sample-reader",
        "model": "sample",
        "signs": [{"segment_id": row.id, "is_a": "A notary's mark"} for row in rows],
    }


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "model_jobs.take_signs": model_jobs_take_signs,
    "correct": with_provider(read_page),
    "translate-transliterate-normalise": with_provider(read_page),
    "ask-a-model": with_provider(
        lambda ex: {**read_page(ex), "settings": {"prompt": "To whom is this addressed?"}}
    ),
    "extract-to-a-table": with_provider(
        lambda ex: {**read_page(ex), "settings": {"columns": ["Who", "What"]}}
    ),
    "split-into-entries": with_provider(read_page),
    "identify-signs": with_provider(signed_page),
}
