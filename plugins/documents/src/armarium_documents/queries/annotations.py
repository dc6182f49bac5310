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
    "highlight": "highlighting", "line": "highlighting", "underline": "highlighting",
    "strikethrough": "highlighting", "note": "commenting", "comment": "commenting", "rating": "assessing",
    "bookmark": "bookmarking",
}  # fmt: skip
"""Kind of an annotation to its motivation in the Web Annotation vocabulary."""


class AnnotationLocator:
    """Locates annotations for `POST /api/locations/resolve` (a locator of `armarium_source_model`)."""

    field = "annotationId"

    def locate(self, conn: Connection, identity: str) -> dict[str, Any] | None:
        """Return `{documentId, segmentId, anchor, charStart, charEnd}`, or None for an unknown id."""
        annotation = ANNOTATIONS.get(conn, identity)
        if annotation is None:
            return None
        anchor = annotation["anchor"]
        if anchor is not None and annotation["page_id"] is not None:
            anchor.setdefault("page_id", annotation["page_id"])
        target = annotation["targets"][0] if annotation["targets"] else {}
        span = target or anchor or {}
        return {
            "documentId": annotation["page_id"] or annotation["document_id"],
            "segmentId": target.get("segment_id"),
            "anchor": anchor,
            "charStart": span.get("char_start"),
            "charEnd": span.get("char_end"),
        }


def annotation_page(
    conn: Connection, *, document_id: str | None, segment_ids: Sequence[str] | None, limit: int, offset: int
) -> dict[str, Any]:
    """Return a page of annotations, oldest first: of a document, of a segment under all its ids, or all."""
    where: list[ColumnElement[bool]] = []
    if document_id is not None:
        require_document(conn, document_id)
        where.append(annotation_table.c.document_id == document_id)
    if segment_ids is not None:
        target = func.json_each(annotation_table.c.targets).table_valued("value").c.value
        is_on_segment = exists().where(is_among(func.json_extract(target, "$.segment_id"), segment_ids))
        # Worded like the partial index, so that it is used.
        where += [annotation_table.c.targets != literal_column("'[]'"), is_on_segment]
    return ANNOTATIONS.page(conn, *where, order=OLDEST_FIRST, limit=limit, offset=offset)


def web_annotations(conn: Connection, document_id: str) -> dict[str, Any]:
    """Return a document's annotations as a W3C AnnotationPage (JSON-LD); NotFound for an unknown document."""
    require_document(conn, document_id)
    rows = ANNOTATIONS.all(conn, annotation_table.c.document_id == document_id, order=OLDEST_FIRST)
    return {
        "@context": "http://www.w3.org/ns/anno.jsonld",
        "id": f"{_iri(document_id)}#annotations",
        "type": "AnnotationPage",
        "items": [_web_annotation(annotation) for annotation in rows],
    }


def _iri(identity: str) -> str:
    """Return the stable IRI of something in the project, for other tools."""
    try:
        return uuid.UUID(hex=identity).urn
    except ValueError:
        return f"urn:armarium:{identity}"


def _web_annotation(annotation: dict[str, Any]) -> dict[str, Any]:
    motivation = MOTIVATIONS[annotation["kind"]]
    result: dict[str, Any] = {
        "id": _iri(annotation["id"]),
        "type": "Annotation",
        "motivation": motivation,
        "created": annotation["created_at"],
        "target": _targets(annotation),
    }
    if annotation["created_by"]:
        kind = "Person" if annotation["provenance_kind"] == "human" else "Software"
        result["creator"] = {"type": kind, "name": annotation["created_by"]}
    bodies: list[dict[str, Any]] = []
    if annotation["text"]:
        purpose = "commenting" if motivation == "highlighting" else motivation
        bodies.append(
            {"type": "TextualBody", "value": annotation["text"], "format": "text/plain", "purpose": purpose}
        )
    if annotation["rating"] is not None:
        bodies.append({"type": "TextualBody", "value": str(annotation["rating"]), "purpose": "assessing"})
    bodies += [{"type": "TextualBody", "value": tag, "purpose": "tagging"} for tag in annotation["tags"]]
    if bodies:
        result["body"] = bodies if len(bodies) > 1 else bodies[0]
    if annotation["color"] is not None:
        result["stylesheet"] = {
            "type": "CssStylesheet",
            "value": f".annotation {{ color: {annotation['color']} }}",
        }
        if isinstance(result["target"], dict):
            result["target"]["styleClass"] = "annotation"
    return result


def _targets(annotation: dict[str, Any]) -> dict[str, Any] | list[dict[str, Any]]:
    anchor = annotation["anchor"] or {}
    targets: list[dict[str, Any]] = []
    for target in annotation["targets"]:
        resource: dict[str, Any] = {"type": "SpecificResource", "source": _iri(target["segment_id"])}
        if target.get("char_start") is not None:
            resource["selector"] = _characters(target["char_start"], target["char_end"])
        targets.append(resource)
    selectors = _selectors(annotation, anchor)
    if selectors or not targets:
        source = anchor.get("page_id") or annotation["page_id"] or annotation["document_id"]
        resource = {"type": "SpecificResource", "source": _iri(source)}
        if selectors:
            resource["selector"] = selectors[0] if len(selectors) == 1 else selectors
        targets.insert(0, resource)
    return targets[0] if len(targets) == 1 else targets


def _characters(start: int, end: int) -> dict[str, Any]:
    return {"type": "TextPositionSelector", "start": start, "end": end}


def _selectors(annotation: dict[str, Any], anchor: dict[str, Any]) -> list[dict[str, Any]]:
    selectors: list[dict[str, Any]] = []
    if anchor.get("rect") is not None:
        numbers = ",".join(f"{100 * number:.6g}" for number in anchor["rect"])
        selectors.append(
            {
                "type": "FragmentSelector",
                "conformsTo": "http://www.w3.org/TR/media-frags/",
                "value": f"xywh=percent:{numbers}",
            }
        )
    shapes = [_svg("polygon", anchor["polygon"])] if anchor.get("polygon") else []
    strokes = (annotation["ink_payload"] or {}).get("strokes")
    if isinstance(strokes, list):
        shapes += [_svg("polyline", stroke) for stroke in strokes if _is_stroke(stroke)]
    if shapes:
        value = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">{"".join(shapes)}</svg>'
        selectors.append({"type": "SvgSelector", "value": value})
    if anchor.get("char_start") is not None:
        selectors.append(_characters(anchor["char_start"], anchor["char_end"]))
    return selectors


def _is_stroke(stroke: Any) -> bool:
    return isinstance(stroke, list) and all(
        isinstance(point, list) and len(point) >= 2 and all(isinstance(n, int | float) for n in point[:2])
        for point in stroke
    )


def _svg(shape: str, points: list[list[float]]) -> str:
    listed = " ".join(f"{100 * point[0]:.6g},{100 * point[1]:.6g}" for point in points)
    fill = "" if shape == "polygon" else ' fill="none"'
    return f'<{shape} points="{listed}"{fill}/>'
