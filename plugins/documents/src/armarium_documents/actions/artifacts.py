"""Creates artifacts and edits their boxes: move, delete, add, combine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import func, select

from armarium.api import ActionContext, Conflict, Invalid, RowRule, action, new_id
from armarium_documents.api import artifacts, require_live
from armarium_documents.queries.files import ARTIFACTS
from armarium_documents.queries.regions import in_reading_order, writing_of
from armarium_documents.schemas.artifacts import (
    AddRegion,
    ArtifactCreateParams,
    ArtifactEdited,
    BoxIn,
    CombineRegions,
    DeleteRegions,
    EditRegionsParams,
    MoveRegion,
)
from armarium_documents.schemas.files import Artifact
from armarium_documents.schemas.geometry import union

USER, MANUAL = "user", "manual"
"""The provider of boxes that a person drew, and the source of one box that a person drew or moved."""
TEXT_LAYER = "text-layer"
"""The provider of a text that the file itself holds."""


def _marks_of(p: ArtifactCreateParams) -> dict[str, Any]:
    """Return the marks of a request in the form in which the row stores them."""
    geometry = p.ocr_geometry
    if geometry is None:
        return {"provider": p.provider, "ocr_geometry": None}
    boxes = [{"source": box.source} for box in geometry.boxes]
    return {"provider": p.provider, "ocr_geometry": {"provider": geometry.provider, "boxes": boxes}}


def _providers(row: Mapping[str, Any]) -> set[str | None]:
    return {row["provider"], (row["ocr_geometry"] or {}).get("provider")}


def _is_a_persons(row: Mapping[str, Any] | None) -> bool:
    """Return whether an artifact holds marks that a person drew."""
    if row is None:
        return False
    boxes = (row["ocr_geometry"] or {}).get("boxes", ())
    return USER in _providers(row) or any(box.get("source") == MANUAL for box in boxes)


def _not_a_person() -> Invalid:
    return Invalid(
        f"A machine's boxes cannot be a person's: name the tool that found them as provider, not {USER!r}, and leave the "
        f"source {MANUAL!r} to what a person drew.",
        code="not_a_person",
    )


def _not_a_reader() -> Invalid:
    return Invalid(
        f"Only the engine says that a text is the file's own: name the tool that found the boxes as provider, not {TEXT_LAYER!r}.",
        code="not_a_reader",
    )


# When the boxes become segments, an artifact with these marks takes precedence over the work of all readers.
_OF_THE_FILE: RowRule[ArtifactCreateParams] = RowRule(
    "artifact", "run", refusal=_not_a_reader, sent=lambda p: TEXT_LAYER in _providers(_marks_of(p))
)
"""Only a job of the engine says that a text is the file's own; what it said is taken back and done again by anybody."""

_OF_A_PERSON: RowRule[ArtifactCreateParams] = RowRule(
    "artifact",
    "person",
    when=lambda before, after: _is_a_persons(after) and not _is_a_persons(before),
    refusal=_not_a_person,
    sent=lambda p: _is_a_persons(_marks_of(p)),
)
"""What a machine found is not a person's, and what a person drew no machine takes back or puts back."""


@action(
    "artifact.create",
    result=Artifact,
    summary="Store what a step made of a document: a text with its boxes, keywords, a score.",
    words="Stored a result of {document_id|a document}",
    rules=(_OF_THE_FILE, _OF_A_PERSON),
)
def create(ctx: ActionContext, p: ArtifactCreateParams) -> dict[str, Any]:
    """Raises NotFound for an unknown document or source artifact, Conflict in the Trash, Forbidden by a lock."""
    require_live(ctx.conn, p.document_id)
    if p.source_artifact_id is not None:
        ARTIFACTS.require(ctx.conn, p.source_artifact_id)
    alike = (artifacts.c.document_id == p.document_id, artifacts.c.artifact_type == p.artifact_type)
    last = ctx.conn.execute(select(func.max(artifacts.c.sequence)).where(*alike)).scalar() or 0
    fields = p.model_dump()
    if fields["ocr_geometry"] is not None:
        fields["ocr_geometry"]["curation_log"] = []
    row = {
        "id": new_id(),
        **fields,
        "version": 1,
        "sequence": last + 1,
        "reviewed": False,
        "run_id": ctx.run_id,
        "geometry_superseded_by_pass_id": None,
        "created_at": ctx.now,
    }
    ctx.conn.execute(artifacts.insert().values(row))
    ctx.target(row["id"], p.document_id)
    ctx.note_changes(document_ids=[p.document_id], artifact_ids=[row["id"]])
    return ARTIFACTS.require(ctx.conn, row["id"])


@action(
    "artifact.edit_regions",
    result=ArtifactEdited,
    summary="Move, delete, add or combine the boxes of an artifact; each edit is recorded in its curation log.",
    words="Changed boxes of an older result of {}",
)
def edit_regions(ctx: ActionContext, p: EditRegionsParams) -> dict[str, Any]:
    """Raises NotFound for an unknown artifact, Invalid for an unknown index, Conflict when its boxes became segments."""
    artifact = ARTIFACTS.require(ctx.conn, p.artifact_id)
    require_live(ctx.conn, artifact["document_id"])
    if artifact["geometry_superseded_by_pass_id"] is not None:
        raise Conflict(
            "The boxes of this artifact became segments and are frozen. Edit the segments of pass "
            f"{artifact['geometry_superseded_by_pass_id']} instead.",
            code="geometry_frozen",
            pass_id=artifact["geometry_superseded_by_pass_id"],
        )
    geometry = artifact["ocr_geometry"]
    if geometry is None:
        if not isinstance(p.edit, AddRegion):
            raise Invalid("This artifact has no boxes yet. Add one first.", code="unknown_index")
        geometry = {
            "text": artifact["content"] or "",
            "provider": USER if ctx.principal.kind == "person" else ctx.principal.provenance_kind,
            "model": None,
            "rendition_id": None,
            "boxes": [],
            "curation_log": [],
            "metadata": {},
        }
    boxes: list[dict[str, Any]] = geometry["boxes"]
    touched = _edit(ctx, artifact["document_id"], boxes, p.edit)
    geometry.setdefault("curation_log", []).append(
        {
            "at": ctx.now,
            "actor": {"kind": ctx.principal.kind, "name": ctx.principal.name},
            "op": p.edit.op,
            "indices": touched,
            "audit_id": ctx.audit_id,
        }
    )
    ctx.conn.execute(
        artifacts.update()
        .where(artifacts.c.id == p.artifact_id)
        .values(ocr_geometry=geometry, version=artifact["version"] + 1)
    )
    ctx.target(p.artifact_id, artifact["document_id"])
    ctx.note_changes(document_ids=[artifact["document_id"]], artifact_ids=[p.artifact_id])
    return {**ARTIFACTS.require(ctx.conn, p.artifact_id), "geometry": geometry}


def _edit(
    ctx: ActionContext,
    document_id: str,
    boxes: list[dict[str, Any]],
    edit: MoveRegion | DeleteRegions | AddRegion | CombineRegions,
) -> list[int]:
    """Change *boxes* in place. Returns the indices, as they were before, that the edit was about."""
    person = ctx.principal.kind == "person"
    by = {"source": MANUAL} if person else {}
    if isinstance(edit, AddRegion):
        boxes.append(BoxIn(bbox=edit.bbox, text=edit.text, level=edit.level).model_dump() | by)
        return [len(boxes) - 1]
    if isinstance(edit, MoveRegion):
        _require_boxes(boxes, [edit.index])
        moved = boxes[edit.index]
        # A box placed by a machine was not drawn by a person.
        by_now = MANUAL if person else None if moved.get("source") == MANUAL else moved.get("source")
        boxes[edit.index] = {**moved, "bbox": edit.bbox, "source": by_now}
        return [edit.index]
    indices = sorted(set(edit.indices))
    _require_boxes(boxes, indices)
    if isinstance(edit, CombineRegions):
        if len(indices) < 2:
            raise Invalid("Combine needs at least two different boxes.", code="unknown_index")
        parts = [boxes[index] for index in indices]
        writing = writing_of(ctx.engine, ctx.project, ctx.conn, document_id, parts)
        combined = _combine_boxes(in_reading_order(parts, writing)) | by
        boxes[indices[0]] = combined
        indices_to_drop = indices[1:]
    else:
        indices_to_drop = indices
    for index in reversed(indices_to_drop):
        del boxes[index]
    return indices


def _require_boxes(boxes: list[dict[str, Any]], indices: list[int]) -> None:
    for index in indices:
        if index >= len(boxes):
            raise Invalid(
                f"There is no box {index}; the artifact has {len(boxes)}, counted from 0.",
                code="unknown_index",
            )


_COARSENESS = ("word", "line", "region", "block", "page")


def _combine_boxes(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one box around *parts* (in reading order): texts joined, the coarsest level, the span of all."""
    level = max((part.get("level", "word") for part in parts), key=_COARSENESS.index)
    texts = [part["text"] for part in parts if part.get("text")]
    starts = [part["char_start"] for part in parts if part.get("char_start") is not None]
    ends = [part["char_end"] for part in parts if part.get("char_end") is not None]
    spanned = len(starts) == len(ends) == len(parts)
    confidences = [part["confidence"] for part in parts if part.get("confidence") is not None]
    return {
        "bbox": union([part["bbox"] for part in parts]),
        "text": (" " if level == "word" else "\n").join(texts) if texts else None,
        "level": level,
        "confidence": min(confidences) if confidences else None,
        "char_start": min(starts) if spanned else None,
        "char_end": max(ends) if spanned else None,
        "page_index": parts[0].get("page_index"),
        "source": None,
        "metadata": {},
    }
