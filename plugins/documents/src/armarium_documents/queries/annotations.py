"""Annotations as JSON, and as a page of W3C Web Annotations for other tools."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, func, literal_column

from armarium.api import Rows, is_among
from armarium_documents.errors import unknown_annotation
from armarium_documents.models import annotation_table
from armarium_documents.queries.tree import require_document

ANNOTATIONS = Rows(annotation_table, missing=unknown_annotation)
OLDEST_FIRST = (annotation_table.c.created_at, annotation_table.c.id)

MOTIVATIONS = {
    "highlight": "highlighting",
    "line": "highlighting",
    "underline": "highlighting",
    "strikethrough": "highlighting",
    "note": "commenting",
    "comment": "commenting",
    "rating": "assessing",
    "bookmark": "bookmarking",
}
"""Kind of an annotation to its motivation in the Web Annotation vocabulary."""


class AnnotationLocator:
    """Locates annotations for `POST /api/locations/resolve` (a locator of `armarium_source_model`)."""

    field = "annotationId"

    def locate(self, conn: Connection, identity: str) -> dict[str, Any] | None:
        """Return `{documentId, segmentId, anchor, charStart, charEnd}`, or None for an unknown id."""
        found = ANNOTATIONS.get(conn, identity)
        if found is None:
            return None
        anchor = found["anchor"]
        if anchor is not None and found["page_id"] is not None:
            anchor.setdefault("page_id", found["page_id"])
        target = found["targets"][0] if found["targets"] else {}
        span = target or anchor or {}
        return {
            "documentId": found["page_id"] or found["document_id"],
            "segmentId": target.get("segment_id"),
            "anchor": anchor,
            "charStart": span.get("char_start"),
            "charEnd": span.get("char_end"),
        }


def annotation_page(
    conn: Connection,
    *,
    document_id: str | None,
    segment_ids: Sequence[str] | None,
    limit: int,
    offset: int,
) -> dict[str, Any]:
    """Return a page of annotations, oldest first: of a document, of a segment under all its ids, or all."""
    where: list[ColumnElement[bool]] = []
    if document_id is not None:
        require_document(conn, document_id)
        where.append(annotation_table.c.document_id == document_id)
    if segment_ids is not None:
        target = func.json_each(annotation_table.c.targets).table_valued("value").c.value
        named = exists().where(is_among(func.json_extract(target, "$.segment_id"), segment_ids))
        # Worded like the partial index, so that it is used.
        where += [annotation_table.c.targets != literal_column("'[]'"), named]
    return ANNOTATIONS.page(conn, *where, order=OLDEST_FIRST, limit=limit, offset=offset)


def web_annotations(conn: Connection, document_id: str) -> dict[str, Any]:
    """Return a document's annotations as a W3C AnnotationPage (JSON-LD); NotFound for an unknown document."""
    require_document(conn, document_id)
    found = ANNOTATIONS.all(conn, annotation_table.c.document_id == document_id, order=OLDEST_FIRST)
    return {
        "@context": "http://www.w3.org/ns/anno.jsonld",
        "id": f"{_iri(document_id)}#annotations",
        "type": "AnnotationPage",
        "items": [_web_annotation(one) for one in found],
    }


def _iri(identity: str) -> str:
    """Return the stable IRI of something in the project, for other tools."""
    try:
        return uuid.UUID(hex=identity).urn
    except ValueError:
        return f"urn:armarium:{identity}"


def _web_annotation(found: dict[str, Any]) -> dict[str, Any]:
    motivation = MOTIVATIONS[found["kind"]]
    made: dict[str, Any] = {
        "id": _iri(found["id"]),
        "type": "Annotation",
        "motivation": motivation,
        "created": found["created_at"],
        "target": _targets(found),
    }
    if found["created_by"]:
        kind = "Person" if found["provenance_kind"] == "human" else "Software"
        made["creator"] = {"type": kind, "name": found["created_by"]}
    bodies: list[dict[str, Any]] = []
    if found["text"]:
        purpose = "commenting" if motivation == "highlighting" else motivation
        bodies.append(
            {"type": "TextualBody", "value": found["text"], "format": "text/plain", "purpose": purpose}
        )
    if found["rating"] is not None:
        bodies.append({"type": "TextualBody", "value": str(found["rating"]), "purpose": "assessing"})
    bodies += [{"type": "TextualBody", "value": tag, "purpose": "tagging"} for tag in found["tags"]]
    if bodies:
        made["body"] = bodies if len(bodies) > 1 else bodies[0]
    if found["color"] is not None:
        made["stylesheet"] = {"type": "CssStylesheet", "value": f".annotation {{ color: {found['color']} }}"}
        if isinstance(made["target"], dict):
            made["target"]["styleClass"] = "annotation"
    return made


def _targets(found: dict[str, Any]) -> dict[str, Any] | list[dict[str, Any]]:
    anchor = found["anchor"] or {}
    made: list[dict[str, Any]] = []
    for target in found["targets"]:
        one: dict[str, Any] = {"type": "SpecificResource", "source": _iri(target["segment_id"])}
        if target.get("char_start") is not None:
            one["selector"] = _characters(target["char_start"], target["char_end"])
        made.append(one)
    selectors = _selectors(found, anchor)
    if selectors or not made:
        source = anchor.get("page_id") or found["page_id"] or found["document_id"]
        one = {"type": "SpecificResource", "source": _iri(source)}
        if selectors:
            one["selector"] = selectors[0] if len(selectors) == 1 else selectors
        made.insert(0, one)
    return made[0] if len(made) == 1 else made


def _characters(start: int, end: int) -> dict[str, Any]:
    return {"type": "TextPositionSelector", "start": start, "end": end}


def _selectors(found: dict[str, Any], anchor: dict[str, Any]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    if anchor.get("rect") is not None:
        numbers = ",".join(f"{100 * number:.6g}" for number in anchor["rect"])
        made.append(
            {
                "type": "FragmentSelector",
                "conformsTo": "http://www.w3.org/TR/media-frags/",
                "value": f"xywh=percent:{numbers}",
            }
        )
    shapes = [_svg("polygon", anchor["polygon"])] if anchor.get("polygon") else []
    strokes = (found["ink_payload"] or {}).get("strokes")
    if isinstance(strokes, list):
        shapes += [_svg("polyline", stroke) for stroke in strokes if _is_stroke(stroke)]
    if shapes:
        value = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">{"".join(shapes)}</svg>'
        made.append({"type": "SvgSelector", "value": value})
    if anchor.get("char_start") is not None:
        made.append(_characters(anchor["char_start"], anchor["char_end"]))
    return made


def _is_stroke(stroke: Any) -> bool:
    return isinstance(stroke, list) and all(
        isinstance(point, list) and len(point) >= 2 and all(isinstance(n, int | float) for n in point[:2])
        for point in stroke
    )


def _svg(shape: str, points: list[list[float]]) -> str:
    listed = " ".join(f"{100 * point[0]:.6g},{100 * point[1]:.6g}" for point in points)
    fill = "" if shape == "polygon" else ' fill="none"'
    return f'<{shape} points="{listed}"{fill}/>'
