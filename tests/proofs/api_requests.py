"""Prepares generated requests so that they reach something: existing ids, the parameters of an action's example, real
files.

Generated values are kept where they are the point of a case (an invalid one, a link followed, one in twenty).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from random import Random
from typing import Any

from schemathesis.core.parameters import ParameterLocation

from armarium.ids import is_id
from proofs.api_fields import Fields, Path, list_given
from proofs.api_project import ApiProject

RAW = 0.05
"""Fraction of the valid cases that are sent as they were generated."""
BY_EXAMPLE = 0.8
"""Fraction of the writes that use the parameters of their action's example, with or without one generated field."""
FILLED = 0.5
"""Fraction of the bodies that get some of the fields they leave out, and of the queries that get one more parameter."""

ALIASES = {
    "doc_id": "document_id",
    "documentId": "document_id",
    "segmentId": "segment_id",
    "artifactId": "artifact_id",
    "annotationId": "annotation_id",
    "ids": "document_id",
    "document_ids": "document_id",
    "scope_ids": "document_id",
    "items": "document_id",
    "segment_ids": "segment_id",
    "audit_ids": "audit_id",
    "target_id": "document_id",
    "parent_id": "folder_id",
    "target_parent_id": "folder_id",
    "order": "order_id",
    "prototype_key": "key",
    "parent_key": "key",
    "source_artifact_id": "artifact_id",
}
"""Fields for which another name is more specific."""
NOTHING = frozenset(
    [
        "claimId",
        "linked_claim_id",
        "linked_entity_id",
        "page_id",
        "parent_segment_id",
        "refines",
        "parent_entry_id",
        "after_entry_id",
        "after_id",
        "run_id",
        "source_item_id",
        "target_item_id",
    ]
)
"""Optional fields of which only some combinations are valid; the examples send those."""

BOX = [0.1, 0.2, 0.5, 0.1]
VALUES: dict[str, tuple[Any, ...]] = {
    "rect": (BOX, [0, 0, 1, 1]),
    "bbox": (BOX, [0.5, 0.5, 0.25, 0.25]),
    "polygon": ([[0.1, 0.2], [0.6, 0.2], [0.6, 0.3]],),
    "baseline": ([[0.1, 0.28], [0.6, 0.28]],),
    "area": ("0.1,0.1,0.8,0.8", "0,0,1,1"),
    "since": ("2020-01-01T00:00:00.000Z",),
    "until": ("2100-01-01T00:00:00.000Z",),
    "reading_kind": ("transcription", "transcription", "translation"),
    "language": ("es", "la", "zh-Hant"),
    "script": ("Latn", "Arab"),
    "color": ("#aa0000",),
    "date_iso": ("1791", "1791-05-12"),
    "char_start": (0, 1),
    "char_end": (2, 3),
    "charStart": (0, 1),
    "charEnd": (2, 3),
    "line": (0,),
    "attr": ("box", "date", "title"),
    "type": ("text",),
    "value": ("4", "letter"),
    "value2": ("9",),
    "facets": (["box"], []),
    "uri": (None, "https://www.wikidata.org/entity/Q42"),
    "encoding": ("utf-8",),
    "expected_version": (1,),
    "expected_versions": ([1],),
    "format": (None,),
}
PLACES: dict[str, dict[str, tuple[Any, ...]]] = {
    "/api/iiif/image/{image_id}/{region}/{size}/{rotation}/{quality}.{file_format}": {
        "region": ("full", "square", "0,0,50,50", "pct:10,10,50,50"),
        "size": ("max", "60,", ",40", "pct:50", "!30,30", "^200,"),
        "rotation": ("0", "90", "180", "!270"),
        "quality": ("default", "color", "gray", "bitonal"),
        "file_format": ("jpg", "png", "webp"),
    },
    "/api/source-settings": {"level": ("node", "project"), "key": ("language",), "value": ("fr", "")},
    "/api/rights/effective": {"target_kind": ("document",)},
    "/api/recipes/assemble": {
        "purposes": ("transcribe", "entities", "search", "tables", "not-sure"),
        "languages": ("la", "fr", "grc", "sr-Latn"),
        "scripts": ("Latn", "Grek"),
        "materials": ("handwriting", "print", "typescript", "text"),
        "directions": ({}, {"latn": "rtl"}),
        "layers": ("entities", "places", "output"),
        "jobs": ("correct", "find-signs"),
        "pages": (0, 6000),
        "memory_gb": (16, 2.5),
    },
    "/api/recipes/candidates": {
        "scripts": ("Latn", "Latn,Grek"),
        "languages": ("la", "fr,en"),
        "material": ("handwriting", "print,typescript"),
        "job": ("read-a-line", "find-lines", "correct"),
        "step": (None, "read", "order"),
        "online": (False, True),
    },
    "/api/links": {"link_type": ("glosses", "quotes"), "from_kind": ("segment",), "to_kind": ("segment",)},
    "/api/images/crops/batch": {"left": (0.1, 0), "top": (0.2,), "width": (0.5,), "height": (0.4,)},
    "/api/images/{document_id}/crop": {
        "left": (6,),
        "top": (4,),
        "width": (30,),
        "height": (20,),
        "page": (1,),
    },
    "/api/images/{document_id}/split": {"page": (1,)},
    "/api/segments/{segment_id}/readings": {"kind": ("transcription", "translation")},
    "/api/segments/{segment_id}/readings/choice": {"kind": ("transcription",)},
    "/api/segments/{segment_id}/correct": {"kind": ("transcription", "normalized_text")},
    "/api/documents/{doc_id}/artifacts": {"artifact_type": ("transcription", "segmentation")},
}
"""Values that are meaningful for one path only; the first ones of each belong together."""
JOBS = {
    "/api/check/runs/": "check",
    "/api/evaluation/runs/": "evaluate-models",
    "/api/find-documents/runs/": "find-documents-in-a-folder",
    "/api/reading-at-scale/jobs/": "read-at-scale",
    "/api/recipes/project/runs/": "run-a-recipe",
    "/api/training/reasons/": "gather-reasons",
    "/api/training/reasons-ab/": "reasons-ab",
}
"""Paths that need the id of a job of a certain kind: other jobs are answered with 404."""
ONE_OF = {
    "/api/locations/resolve": ("segmentId", "documentId", "artifactId", "annotationId"),
    "/api/source-settings/resolve": ("segment_id", "document_id"),
    "/api/documents/import": ("folder", "paths"),
    "/api/artifacts/{artifact_id}/region": ("line", "char_start"),
}
"""Fields that exclude each other."""
PICTURED = re.compile("picture|iiif|thumbnail|/images/|/export/|/content$|/primary$")
"""Paths that need a page with a picture."""


class Tally:
    """The answers of every operation: to cases that conform to the description, and to those that do not."""

    def __init__(self) -> None:
        self.kept: dict[str, Counter[int]] = defaultdict(Counter)
        self.broken: dict[str, Counter[int]] = defaultdict(Counter)
        self.fields: dict[str, set[Path]] = defaultdict(set)
        """Those in a conforming case that was answered with success."""

    def add(self, operation: str, status: int, kept: bool) -> None:
        (self.kept if kept else self.broken)[operation][status] += 1

    def total(self, kept: bool) -> Counter[int]:
        counts: Counter[int] = Counter()
        for one in (self.kept if kept else self.broken).values():
            counts.update(one)
        return counts

    def share(self, first: int, last: int) -> float:
        """Return the fraction of the conforming cases that were answered with a status from *first* to *last*."""
        found = self.total(True)
        return sum(n for status, n in found.items() if first <= status <= last) / max(1, found.total())

    def never_met(self, operations: set[str]) -> set[str]:
        """Return the operations that never answered 2xx or 3xx."""
        return {operation for operation in operations if not self.was_answered(operation)}

    def was_answered(self, operation: str) -> bool:
        """Return whether an operation answered 2xx or 3xx."""
        return any(200 <= status < 400 for status in (*self.kept[operation], *self.broken[operation]))


class CasePreparer:
    """Prepares a case before it is sent, and records its answer."""

    def __init__(self, ground: ApiProject, tally: Tally) -> None:
        self.ground = ground
        self.tally = tally
        self.body_fields = body_fields_of(ground.app.openapi())
        self.fields = Fields(ground.app.openapi())
        self.by_example: str | None = None
        self.kept = True
        self.plainly = True
        """Whether the case is of an operation that has not succeeded yet: then nothing odd is added to it, so that its
        first success is not left to chance.
        """

    def before(self, case: Any) -> None:
        self.ground.tick()
        self.by_example = None
        self.kept = case.method == case.operation.method.upper() and (
            case.meta is None or case.meta.generation.mode.is_positive
        )
        # The parameter that names a project has tests of its own; here every request names the existing project.
        if case.query:
            case.query.pop("library", None)
        chance = Random(_digest(case) ^ self.ground.asked)
        self.plainly = not self.tally.was_answered(case.operation.label)
        if case.method != case.operation.method.upper() or (not self.plainly and chance.random() < RAW):
            return
        negative = {
            place
            for place in (ParameterLocation.PATH, ParameterLocation.QUERY, ParameterLocation.BODY)
            if case.meta is not None and case.meta.is_negative_at(place)
        }
        following = case.meta is not None and case.meta.phase.name == "stateful" and _holds_an_id(case)
        action = self.ground.actions.get(case.operation.label)
        if action is not None and not following and (self.plainly or chance.random() < BY_EXAMPLE):
            self._as_example(case, action, negative, chance)
        else:
            self._with_what_is_there(case, negative, chance, keep_ids=following)

    def after(self, case: Any, response: Any) -> None:
        self.tally.add(case.operation.label, response.status_code, self.kept)
        if self.kept and response.status_code < 400:
            met = self.tally.fields[case.operation.label]
            met |= {(f"?{name}",) for name in case.query or ()}
            met |= set(list_given(case.body))
        action = self.by_example
        audit = response.headers.get("x-service-audit-id")
        if 200 <= response.status_code < 300:
            if audit and (case.meta is None or case.meta.phase.name != "stateful"):
                undone = self.ground.take_back(audit[0])
                if action and not (undone and self.ground.lasting(action)):
                    self.ground.use_up(action)
        elif action:
            self.ground.use_up(action)

    def _as_example(self, case: Any, action: str, negative: set[ParameterLocation], chance: Random) -> None:
        params = self.ground.params(action)
        self.by_example = action
        if ParameterLocation.PATH not in negative:
            for name in case.path_parameters or ():
                value = params.get(name, params.get(ALIASES.get(name, name), params.get("ids")))
                case.path_parameters[name] = value[0] if isinstance(value, list) else value
        if ParameterLocation.BODY in negative:
            return
        fields = self.body_fields.get(case.operation.label)
        if fields is None:
            return
        body = body_of(params, fields)
        if case.media_type == "multipart/form-data" and isinstance(body, dict):
            body = {name: _as_upload(value) for name, value in body.items()}
        elif (
            isinstance(case.body, dict)
            and isinstance(body, dict)
            and not self.plainly
            and chance.random() < 0.4
        ):
            over = [name for name in case.body if name in fields and name not in params]
            if over:
                name = chance.choice(over)
                scene = self.ground.scene({ALIASES.get(name, name)}, chance)
                body = {**body, name: self._real(case.body[name], name, scene, chance)}
        own = {name: value for name, value in params.items() if isinstance(value, str)}
        if not isinstance(body, dict):
            case.body = body
            return
        case.body = self._fill_fields(case, body, self.ground.scene(self.ground.names, chance) | own, chance)

    def _with_what_is_there(
        self, case: Any, negative: set[ParameterLocation], chance: Random, *, keep_ids: bool
    ) -> None:
        path = case.operation.path
        names = {*(case.path_parameters or {}), *(case.query or {})}
        if isinstance(case.body, dict):
            names |= case.body.keys()
        if path.endswith("{pass_id}/original"):
            names = {"original_pass_id"}
        if path.endswith("/readings/compare"):
            names |= {"read_pass_id"}
        if path.endswith("/comparisons"):
            names = {"left_run_id", "right_run_id"}
        wanted = {ALIASES.get(name, name) for name in names}
        scene = self.ground.scene(wanted, chance, pictured=bool(PICTURED.search(path)))
        if path.endswith("{pass_id}/original"):
            scene["pass_id"] = scene.get("original_pass_id")
        if path.endswith("/comparisons"):
            scene |= {side: scene.get(f"{side}_run_id") for side in ("left", "right")}
        if path.startswith("/api/actions/audit") and path.endswith("undo"):
            scene["audit_id"] = self.ground.fresh_step()
        scene |= {
            name: values[0] if self.plainly else chance.choice(values)
            for name, values in PLACES.get(path, {}).items()
        }
        of_kind = next(
            (
                jobs
                for start, kind in JOBS.items()
                if path.startswith(start) and (jobs := self.ground.jobs(kind))
            ),
            (),
        )
        if of_kind:
            scene["job_id"] = chance.choice(of_kind)
        scene |= {"format_name": chance.choice(FORMATS), "path": self.ground.files[-1]}
        if path.endswith("/registry/resolve"):
            # Another request may have renamed the project; its path stays the same.
            scene["name"] = chance.choice(("Fuzz",) * (not self.plainly) + (str(self.ground.path),))
        if ParameterLocation.PATH not in negative:
            for name, value in (case.path_parameters or {}).items():
                if not (keep_ids and isinstance(value, str) and is_id(value)):
                    real = self._real(value, name, scene, chance)
                    case.path_parameters[name] = value if real is None else real
        if ParameterLocation.QUERY not in negative and case.query:
            for name, value in list(case.query.items()):
                case.query[name] = self._real(value, name, scene, chance)
                if case.query[name] is None:
                    del case.query[name]
        if ParameterLocation.QUERY not in negative and isinstance(case.query, dict):
            if not self.plainly and chance.random() < FILLED:
                self.fields.query(
                    case.operation.label,
                    case.query,
                    lambda value, name: self._real(value, name, scene, chance),
                    chance,
                )
            _only_one(case.query, path)
        if ParameterLocation.BODY not in negative and isinstance(case.body, dict):
            case.body = self._fill_fields(case, self._real(case.body, "", scene, chance), scene, chance)
            _only_one(case.body, path)
            if path.endswith("/readings/compare"):
                case.body |= {
                    side: {"pass_id": scene.get("read_pass_id")} for side in ("reference", "hypothesis")
                }
            if case.operation.label == "POST /api/actions/invoke":
                name = chance.choice(INVOKED)
                self.by_example = name
                case.body = {"name": name, "params": self.ground.params(name)}

    def _fill_fields(self, case: Any, body: Any, scene: Mapping[str, Any], chance: Random) -> Any:
        """Return *body* with more fields, half the time."""
        if self.plainly or case.media_type != "application/json" or chance.random() >= FILLED:
            return body
        return self.fields.fill(
            case.operation.label, body, lambda value, name: self._real(value, name, scene, chance), chance
        )

    def _real(self, value: Any, name: str, scene: Mapping[str, Any], chance: Random) -> Any:
        if name in NOTHING:
            return None
        if isinstance(value, dict) and not isinstance(scene.get(name), dict):
            return {
                key: found
                for key, item in value.items()
                if (found := self._real(item, str(key), scene, chance)) is not None
            }
        meant = scene.get(ALIASES.get(name, name))
        if isinstance(value, int | float) and name in ALIASES:
            # The description allows a number in place of a name: its position among the declarations.
            return value
        if meant is not None and (name in ALIASES or name in scene):
            return [meant] if isinstance(value, list) or name.endswith("ids") else meant
        if ALIASES.get(name, name) in self.ground.names:
            return None
        if name in VALUES:
            return chance.choice(VALUES[name])
        if name in ("paths", "path", "folder"):
            return [chance.choice(self.ground.files)] if name == "paths" else self.ground.source
        if isinstance(value, list):
            return [self._real(item, name, scene, chance) for item in value]
        return value


FORMATS = ("alto", "pagexml", "plain-text", "tei")

INVOKED = [
    "document.create",
    "document.update",
    "document.move",
    "segment.create",
    "segment.update",
    "segment.merge",
    "reading.take",
    "segment.take_lines",
    "annotation.create",
    "link.create",
    "artifact.create",
    "token.create",
    "document.propose_kind",
    "content_representation.create",
    "segment.convert_page",
    "image.treat_item",
    "bookmark.create",
    "reading_order.place",
    "library.set",
    "source_setting.set",
    "conversion.start",
]


def _only_one(values: dict[str, Any], path: str) -> None:
    """Keep only the first of fields that exclude each other."""
    there = [name for name in ONE_OF.get(path, ()) if name in values]
    for name in there[1:]:
        del values[name]
    if path == "/api/artifacts/{artifact_id}/region":
        if "char_start" in values:
            values["char_end"] = values["char_start"] + 1
        else:
            values.pop("char_end", None)


def _as_upload(value: Any) -> Any:
    """Return an example's file in the form of an upload."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, list):
        return [one["file"] if isinstance(one, dict) else one for one in value]
    return value


def _digest(case: Any) -> int:
    said = repr((case.operation.label, case.path_parameters, case.query, case.body))
    return int.from_bytes(hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()[:8])


def _holds_an_id(case: Any) -> bool:
    """Return whether schemathesis has put an id from another answer into the case."""
    held = [*(case.path_parameters or {}).values(), *(case.query or {}).values()]
    if isinstance(case.body, dict):
        held += case.body.values()
    return any(isinstance(value, str) and is_id(value) for value in held)


def body_of(params: Mapping[str, Any], fields: set[str]) -> Any:
    """Return the JSON body for *params*: those among its *fields*, or the one object or list that is the whole body."""
    body = {name: value for name, value in params.items() if name in fields}
    whole = [value for value in params.values() if isinstance(value, dict | list)]
    return whole[0] if not body and len(whole) == 1 else body


def body_fields_of(document: dict[str, Any]) -> dict[str, set[str]]:
    """Return the names that each operation's body may contain."""

    def names(schema: Mapping[str, Any]) -> set[str]:
        if "$ref" in schema:
            return names(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        found = set(schema.get("properties", {}))
        for word in ("anyOf", "oneOf", "allOf"):
            for one in schema.get(word, ()):
                found |= names(one)
        return found

    return {
        f"{method.upper()} {path}": names(media.get("schema", {}))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for media in operation.get("requestBody", {}).get("content", {}).values()
    }
