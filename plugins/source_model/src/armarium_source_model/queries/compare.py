"""Compares two readings of a page: gathers the texts for `cer.score`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from armarium.api import Invalid, Library, query
from armarium_documents.api import ARTIFACTS, require_document
from armarium_source_model.cer import DEFINITION, score
from armarium_source_model.counting import ReadingRule
from armarium_source_model.queries.legacy import old_pass
from armarium_source_model.queries.passes import get_pass, reading_rule
from armarium_source_model.queries.provisional_text import is_provisional, provisional_text
from armarium_source_model.queries.text import page_text
from armarium_source_model.schemas.compare import CompareBody, Comparison, Side


@query(
    "/api/documents/{document_id}/readings/compare",
    summary="Compare two readings of a page",
    answer=Comparison,
    refusals=(404, 409),
    name="compare",
    method="POST",
)
def compare_readings(
    conn: Connection, library: Library, document_id: str, asked: CompareBody
) -> dict[str, Any]:
    """Return the character error rate under each policy asked for; 422 where it would be meaningless."""
    rule = reading_rule(conn)
    require_document(conn, document_id)
    reference, reference_label = _side(library, conn, document_id, asked.reference, "reference", rule)
    hypothesis, hypothesis_label = _side(library, conn, document_id, asked.hypothesis, "hypothesis", rule)
    return {
        "document_id": document_id,
        # Without somebody who checked the reference, it measures agreement between two readings, not error.
        "measure": "cer" if asked.reference_checked_by else "agreement",
        "reference_label": reference_label,
        "hypothesis_label": hypothesis_label,
        "definition": DEFINITION,
        "scores": [
            score(reference, hypothesis, policy, asked.expansions)._asdict()
            for policy in dict.fromkeys(asked.policies)
        ],
    }


def _side(
    library: Library, conn: Connection, document_id: str, side: Side, name: str, rule: ReadingRule
) -> tuple[str, str]:
    if side.pass_id is not None and is_provisional(side.pass_id):
        old = old_pass(conn, side.pass_id)
        _of_page(old.document_id, document_id, name, f"pass {old.pass_id}")
        text = provisional_text(library, conn, document_id, old.pass_id)
        return text.text, f"{text.pass_name} (provisional)"
    if side.pass_id is not None:
        row = get_pass(conn, side.pass_id)
        _of_page(row.document_id, document_id, name, f"pass {row.id}")
        return page_text(conn, document_id, pass_id=row.id, rule=rule).text, row.name
    assert side.artifact_id is not None
    artifact = ARTIFACTS.require(conn, side.artifact_id)
    _of_page(artifact["document_id"], document_id, name, f"artifact {side.artifact_id}")
    content = artifact["content"]
    if content is None and artifact["ocr_geometry"]:
        content = artifact["ocr_geometry"].get("text")
    return content or "", f"{artifact['artifact_type']} {side.artifact_id}"


def _of_page(owner_id: str, document_id: str, name: str, what: str) -> None:
    if owner_id != document_id:
        raise Invalid(
            f"The {name}, {what}, is of document {owner_id}, not of {document_id}; compare two readings of one page.",
            code="other_document",
        )
