"""Shows boxes inside an artifact as provisional passes and segments until the page is converted, and who made each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import NotFound
from armarium_documents.api import artifacts
from armarium_source_model.boxes import BoxShape, read_box
from armarium_source_model.counting import HUMAN, Counting, CountingBasis
from armarium_source_model.errors import PROVISIONAL, unknown_pass, unknown_segment
from armarium_source_model.geometry import tile_of
from armarium_source_model.schemas.readings import ReadingOut
from armarium_source_model.schemas.segments import PassOut, SegmentOut

_ARTIFACTS = (
    f"SELECT id, document_id, artifact_type, provider, model, run_id, ocr_geometry, created_at FROM {artifacts} "
    "WHERE ocr_geometry IS NOT NULL AND geometry_superseded_by_pass_id IS NULL AND"
)

_OF_BOX = ("kind", "baseline", "text", "confidence", "page_index", "metadata")
"""What a segment has from its box as it is."""


class OldGeometry:
    """One artifact with boxes that was not converted."""

    def __init__(self, row: Sequence[Any]) -> None:
        self.id: str = row[0]
        self.document_id: str = row[1]
        self.artifact_type: str = row[2]
        geometry: dict[str, Any] = orjson.loads(row[6])
        self.provider: str | None = row[3] or geometry.get("provider")
        self.model: str | None = row[4] or geometry.get("model")
        self.run_id: str | None = row[5]
        self.created_at: str = row[7]
        self.rendition_id: str | None = geometry.get("rendition_id")
        self.boxes: list[Any] = list(geometry.get("boxes") or ())
        self.log: list[Any] = list(geometry.get("curation_log") or ())

    @property
    def pass_id(self) -> str:
        """Return the provisional id of the pass that the artifact stands for."""
        return f"{PROVISIONAL}{self.id}"

    @property
    def provenance_kind(self) -> str:
        """Return a person's kind if the boxes were drawn by hand, else a run's."""
        return HUMAN if self.provider == "user" else "workflow"

    @cached_property
    def makers(self) -> list[BoxMaker]:
        """Return the maker of each box and of its words: what a person touched in a machine's is the
        person's.
        """
        return box_makers(self.boxes, self.log, self.provenance_kind)

    def shapes(self) -> Iterator[tuple[int, BoxShape]]:
        """Return (index of the box, its shape) of every box with a usable rect."""
        for index, box in enumerate(self.boxes):
            shape = read_box(box) if isinstance(box, dict) else None
            if shape is not None:
                yield index, shape

    def as_pass(self) -> dict[str, Any]:
        """Return the artifact as a provisional SegmentPass."""
        return {
            **dict.fromkeys(PassOut.model_fields),
            "id": self.pass_id,
            "provisional": True,
            **self._origin(self.provenance_kind),
            "name": self.model or self.provider or self.artifact_type,
            "provider": self.provider,
            "model": self.model,
            "source_artifact_id": self.id,
            "artifact_type": self.artifact_type,
            "has_original": False,
            "ground_truth": False,
            "working": False,
            "segment_count": sum(1 for _ in self.shapes()),
        }

    def _origin(self, provenance_kind: str) -> dict[str, Any]:
        """Return which page something of the artifact belongs to, and who made it when."""
        return {
            "document_id": self.document_id,
            "provenance_kind": provenance_kind,
            "run_id": self.run_id,
            "created_at": self.created_at,
        }

    def as_segment(self, index: int, shape: BoxShape) -> dict[str, Any]:
        """Return a box as a provisional Segment."""
        anchor: dict[str, Any] = {
            "document_id": self.document_id,
            "rendition_id": self.rendition_id,
            "space": "normalized",
            "rect": list(shape.rect),
            "rotation": 0,
        }
        more = {"polygon": shape.polygon, "char_start": shape.char_start, "char_end": shape.char_end}
        anchor |= {name: value for name, value in more.items() if value is not None}
        x, y, w, h = shape.rect
        return {
            **dict.fromkeys(SegmentOut.model_fields),
            "id": f"{self.pass_id}:{index}",
            "provisional": True,
            **self._origin(self.makers[index].shape),
            "pass_id": self.pass_id,
            "anchor": anchor,
            "is_furniture": False,
            "source_artifact_id": self.id,
            "box_index": index,
            **{name: getattr(shape, name) for name in _OF_BOX},
            "bbox_x": x,
            "bbox_y": y,
            "bbox_w": w,
            "bbox_h": h,
            "tile": tile_of(x, y, w, h),
        }

    def as_readings(self, segment_id: str, text: str | None) -> dict[str, Any]:
        """Return the text of a box as a ReadingList."""
        maker = self.makers[int(segment_id.rpartition(":")[2])].words
        reading = {
            **dict.fromkeys(ReadingOut.model_fields),
            "id": segment_id,
            **self._origin(maker),
            "kind": "transcription",
            "content": text,
            "segment_id": segment_id,
            "retracted": False,
            "producer_run_id": self.run_id,
            "producer_tool": self.provider,
            "producer_model": self.model,
            "review_state": "source",
            "counting": True,
            "stale": False,
        }
        items = [reading] if text else []
        machine = maker != HUMAN
        basis: CountingBasis = "newest-machine-unchosen" if machine else "newest-human"
        counting = Counting(segment_id, basis, machine)._asdict()
        return {
            "segment_id": segment_id,
            "items": items,
            "count": len(items),
            "counting": {"transcription": counting} if items else {},
        }


def old_geometry_of(conn: Connection, document_id: str) -> list[OldGeometry]:
    """Return the unconverted artifacts of a page that have boxes, oldest first."""
    rows = conn.exec_driver_sql(f"{_ARTIFACTS} document_id = ? ORDER BY created_at, id", (document_id,))
    return [OldGeometry(row) for row in rows.all()]


def old_pass(conn: Connection, pass_id: str) -> OldGeometry:
    """Return the artifact behind a provisional pass id; NotFound."""
    row = conn.exec_driver_sql(f"{_ARTIFACTS} id = ?", (pass_id.removeprefix(PROVISIONAL),)).one_or_none()
    if row is None:
        raise unknown_pass(pass_id)
    return OldGeometry(row)


def old_segment(conn: Connection, segment_id: str) -> tuple[OldGeometry, dict[str, Any]]:
    """Return the artifact and the segment behind a provisional segment id; NotFound."""
    artifact_id, _, number = segment_id.removeprefix(PROVISIONAL).rpartition(":")
    try:
        old_geometry = old_pass(conn, artifact_id)
    except NotFound:
        raise unknown_segment(segment_id) from None
    for index, shape in old_geometry.shapes():
        if str(index) == number:
            return old_geometry, old_geometry.as_segment(index, shape)
    raise unknown_segment(segment_id)


def narrow_segments(
    old: Sequence[OldGeometry],
    *,
    pass_id: str | None = None,
    artifact_id: str | None = None,
    kind: str | None = None,
) -> list[dict[str, Any]]:
    """Filter the provisional segments of *old* as `list_segments` filters real ones.

    There is no area filter: an area selects real segments only.
    """
    return [
        old_geometry.as_segment(index, shape)
        for old_geometry in old
        if pass_id in (None, old_geometry.pass_id) and artifact_id in (None, old_geometry.id)
        for index, shape in old_geometry.shapes()
        if kind in (None, shape.kind)
    ]


MACHINE = "workflow"
MANUAL = "manual"
"""The source of a box that a person drew or moved; the documents set it, a machine may not."""


class BoxMaker(NamedTuple):
    """Provenance kinds: of the box (who last drew or moved its shape) and of its words."""

    shape: str
    words: str


def box_makers(boxes: Sequence[Any], log: Sequence[Any], whose: str) -> list[BoxMaker]:
    """Return the maker of each of *boxes*; *whose* is the provenance kind of untouched ones.

    The log records edits by the box's index before the edit, so indices are followed through it. Where it
    does not fit the boxes, each box is taken as it is: one marked manual is a person's.
    """
    untouched = BoxMaker(whose, whose)
    makers = _replay_log(log, len(boxes), untouched) or [untouched] * len(boxes)
    return [
        BoxMaker(HUMAN, HUMAN) if maker is untouched and _is_manual(box) else maker
        for box, maker in zip(boxes, makers, strict=True)
    ]


def _is_manual(box: Any) -> bool:
    return isinstance(box, Mapping) and box.get("source") == MANUAL


def _replay_log(log: Sequence[Any], count: int, untouched: BoxMaker) -> list[BoxMaker] | None:
    """Return the makers after every edit; None if the log is not ours or does not end with *count* boxes."""
    edits: list[tuple[str, list[int], str]] = []
    for entry in log:
        actor = entry.get("actor") if isinstance(entry, Mapping) else None
        indices = entry.get("indices") if isinstance(entry, Mapping) else None
        if not isinstance(actor, Mapping) or not isinstance(indices, list) or not indices:
            return None
        if not all(isinstance(index, int) and index >= 0 for index in indices):
            return None
        edits.append((str(entry.get("op")), indices, HUMAN if actor.get("kind") == "person" else MACHINE))
    added = sum(1 for op, _, _ in edits if op == "add")
    lines_gone = sum(len(at) - (op == "combine") for op, at, _ in edits if op in ("delete", "combine"))
    if count - added + lines_gone < 0:
        return None
    makers = [untouched] * (count - added + lines_gone)
    for op, indices, by in edits:
        if op == "add":
            makers.append(BoxMaker(by, by))
            continue
        if max(indices) >= len(makers):
            return None
        if op == "move":
            makers[indices[0]] = makers[indices[0]]._replace(shape=by)
            continue
        first, *others = sorted(set(indices))
        if op == "combine":
            parts = {makers[index].words for index in (first, *others)}
            makers[first] = BoxMaker(by, parts.pop() if len(parts) == 1 else MACHINE)
            indices = others
        elif op != "delete":
            return None
        for index in sorted(set(indices), reverse=True):
            del makers[index]
    return makers if len(makers) == count else None
