"""Examples of the actions and recipe jobs of checking: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example
from armarium_checking.jobs import CHECK
from armarium_checking.queries.samples import next_line
from armarium_testing.sample_pages import sample_page


def page_with_reading(ex: Example) -> tuple[str, str]:
    page = sample_page(ex, ["Dear Sir"])
    return page.document_id, page.reading_ids[0]


def check_run(ex: Example) -> dict[str, Any]:
    checker = {"provider": "builtin", "model": "agreement"}
    return {"layer": "readings", "scope_ids": [page_with_reading(ex)[0]], "checker": checker}


def check_verdict(ex: Example) -> dict[str, Any]:
    _, reading_id = page_with_reading(ex)
    return {
        "layer": "readings",
        "target_id": reading_id,
        "verdict": "confirm",
        "reasons": "Compared with the leaf",
    }


def check_take(ex: Example) -> dict[str, Any]:
    told = check_verdict(ex)
    opinion = {name: told[name] for name in ("target_id", "verdict", "reasons")}
    return {"layer": "readings", "kind": "transcription", "checker": {"provider": "builtin", "model": "agreement"},
            "verdicts": [opinion]}  # fmt: skip


def page_read_twice(ex: Example) -> dict[str, Any]:
    """Create a page with a line that two readers read alike."""
    page = sample_page(ex, lines=1)
    for reader in ("first-reader", "second-reader"):
        readings = [{"segment_id": page.segment_ids[0], "text": "Dear Sir"}]
        settings = {"document_id": page.document_id, "pass_id": page.pass_id, "provider": reader}
        ex.run("reading.take", {**settings, "readings": readings})
    return {"page_id": page.document_id}


def proposal_decide(ex: Example) -> dict[str, Any]:
    page = sample_page(ex, ["Deer Sir", "Deer Madam"], reader="sample")
    items = [
        {
            "segment_id": line,
            "reading_id": reading,
            "char_start": 0,
            "char_end": 4,
            "read": "Deer",
            "proposed": "Dear",
        }
        for line, reading in zip(page.segment_ids, page.reading_ids, strict=True)
    ]
    return {"accepted": items[:1], "rejected": items[1:]}


def quality_sample(ex: Example) -> dict[str, Any]:
    page = sample_page(ex, [f"Dear Sir {number}" for number in range(11)], reader="sample")
    return {"scope_ids": [page.document_id], "lines": 10, "seed": 7}


def quality_answer(ex: Example) -> dict[str, Any]:
    sample = ex.run("quality.sample", quality_sample(ex))["id"]
    assert ex.library is not None
    with ex.library.db.read() as conn:
        line = next_line(conn, sample)["line"]
    return {"line_id": line["line_id"], "text": "Dear Sir"}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    CHECK.name: page_read_twice,
    "check.run": check_run,
    "check.cancel": lambda ex: {"job_id": ex.run("check.run", check_run(ex))["job_id"]},
    "check.verdict": check_verdict,
    "check.take": check_take,
    "proposal.decide": proposal_decide,
    "quality.sample": quality_sample,
    "quality.extend": lambda ex: {
        "sample_id": ex.run("quality.sample", quality_sample(ex))["id"],
        "lines": 1,
    },
    "quality.answer": quality_answer,
    "quality.remove": lambda ex: {"sample_id": ex.run("quality.sample", quality_sample(ex))["id"]},
}
