"""Examples of the actions and recipe jobs of source model: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example
from armarium_testing.sample_pages import (
    SamplePage,
    sample_anchor,
    sample_document,
    sample_page,
    sample_reading,
)


def segment_convert_page(ex: Example) -> dict[str, Any]:
    document_id = sample_document(ex)

    box = {"bbox": [0.1, 0.1, 0.8, 0.05], "text": "Dear Sir", "level": "line"}
    geometry = {"provider": "reader", "boxes": [box]}
    ex.run(
        "artifact.create",
        {"document_id": document_id, "artifact_type": "transcription", "ocr_geometry": geometry},
    )
    return {"document_id": document_id}


def reading_order_fill(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    about = {
        "document_id": page.document_id,
        "pass_id": page.pass_id,
        "name": "As I read it",
        "kind": "imposed",
    }
    order_id = ex.run("reading_order.create", about)["id"]
    first, second, third = page.segment_ids[:3]
    ex.run("reading_order.place", {"order_id": order_id, "segment_id": third})
    places = [{"segment_id": first}, {"segment_id": second, "parent_segment_id": third}]
    return {"order_id": order_id, "segments": places}


def segment_merge(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    sample_reading(ex, page)
    return {"segment_ids": page.segment_ids, "keep_id": page.segment_ids[0], "expected_versions": [1, 1, 1]}


def segment_split(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    sample_reading(ex, page, "Dear Sir, your letter")
    return {
        "segment_id": page.segment_ids[0],
        "expected_version": 1,
        "parts": [
            {"anchor": {"rect": [0.1, 0.1, 0.3, 0.05]}, "text": "Dear Sir,"},
            {"anchor": {"rect": [0.4, 0.1, 0.5, 0.05]}, "text": "your letter"},
        ],
    }


def link_create(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    return {
        "from_id": page.segment_ids[0],
        "to_id": page.segment_ids[1],
        "link_type": "glosses",
        "certainty": 0.7,
        "note": "In a later hand",
    }


def link_delete(ex: Example) -> dict[str, Any]:
    return {"link_id": ex.run("link.create", link_create(ex))["result"]["link_id"]}


def link_restore(ex: Example) -> dict[str, Any]:
    params = link_delete(ex)
    ex.run("link.delete", params)
    return params


def segment_match_propose(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    other_pass_id = ex.run("segment.pass_create", {"document_id": page.document_id, "name": "Second look"})[
        "id"
    ]
    newer = ex.run(
        "segment.create",
        {
            "document_id": page.document_id,
            "pass_id": other_pass_id,
            "kind": "line",
            "anchor": sample_anchor(0),
        },
    )["id"]
    return {"from_segment_id": page.segment_ids[0], "to_segment_id": newer, "certainty": 0.9}


def segment_match_accept(ex: Example) -> dict[str, Any]:
    return {"match_id": ex.run("segment.match_propose", segment_match_propose(ex))["id"]}


def segment_carry(ex: Example) -> dict[str, Any]:
    params = segment_match_propose(ex)
    ex.run("representation.create", {"segment_id": params["from_segment_id"], "text": "Dear Sir"})
    match_id = ex.run("segment.match_propose", params)["id"]
    ex.run("segment.match_accept", {"match_id": match_id})
    return {"match_id": match_id}


def sample_order(ex: Example, *, seed: bool = True) -> tuple[SamplePage, str]:
    page = sample_page(ex)
    order = ex.run(
        "reading_order.create",
        {
            "document_id": page.document_id,
            "pass_id": page.pass_id,
            "name": "As I read it",
            "kind": "imposed",
            "seed_from_pass": seed,
        },
    )
    return page, str(order["id"])


def reading_order_create(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    return {
        "document_id": page.document_id,
        "pass_id": page.pass_id,
        "name": "As written",
        "kind": "as-written",
        "certainty": 0.8,
        "seed_from_pass": True,
    }


def reading_order_place(ex: Example) -> dict[str, Any]:
    page, order_id = sample_order(ex, seed=False)
    first = ex.run(
        "reading_order.place", {"order_id": order_id, "segment_id": page.segment_ids[2], "at_end": True}
    )
    return {"order_id": order_id, "segment_id": page.segment_ids[0], "after_entry_id": first["id"]}


def reading_order_withdraw(ex: Example) -> dict[str, Any]:
    return {"order_id": sample_order(ex)[1]}


def reading_order_restore(ex: Example) -> dict[str, Any]:
    params = reading_order_withdraw(ex)
    ex.run("reading_order.withdraw", params)
    return params


def reading_order_remove(ex: Example) -> dict[str, Any]:
    page, order_id = sample_order(ex, seed=False)
    entry = ex.run("reading_order.place", {"order_id": order_id, "segment_id": page.segment_ids[0]})
    return {"order_id": order_id, "entry_id": entry["id"]}


def reading_order_columns(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    return {"document_id": page.document_id, "columns": 2, "pass_id": page.pass_id}


def segment_pass_create(ex: Example) -> dict[str, Any]:
    return {"document_id": sample_document(ex), "name": "Lines drawn by hand"}


def segment_pass_delete(ex: Example) -> dict[str, Any]:
    return {"pass_id": sample_page(ex).pass_id}


def segment_pass_restore(ex: Example) -> dict[str, Any]:
    params = segment_pass_delete(ex)
    ex.run("segment.pass_delete", params)
    return params


def segment_pass_choose(ex: Example) -> dict[str, Any]:
    return {**segment_pass_delete(ex), "working": True}


def segment_pass_ground_truth(ex: Example) -> dict[str, Any]:
    return {**segment_pass_delete(ex), "ground_truth": True}


def representation_create(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    counting = sample_reading(ex, page, "Deer Sir")
    return {"segment_id": page.segment_ids[0], "text": "Dear Sir", "expected_counting_id": counting}


def representation_create_many(ex: Example) -> dict[str, Any]:
    return {"corrections": [representation_create(ex)]}


def reading_choose(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    first = sample_reading(ex, page, "Deer Sir")
    sample_reading(ex, page, "Dear Sir")
    return {"segment_id": page.segment_ids[0], "kind": "transcription", "representation_id": first}


def reading_retract(ex: Example) -> dict[str, Any]:
    return {"representation_id": sample_reading(ex, sample_page(ex))}


def segment_create(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    return {
        "document_id": page.document_id,
        "pass_id": page.pass_id,
        "kind": "line",
        "anchor": {
            "rect": [0.1, 0.7, 0.8, 0.05],
            "polygon": [[0.1, 0.7], [0.9, 0.7], [0.9, 0.75], [0.1, 0.75]],
        },
        "baseline": [[0.1, 0.74], [0.9, 0.74]],
        "language": "fr",
    }


def segment_create_many(ex: Example) -> dict[str, Any]:
    document_id = sample_document(ex)
    pass_id = ex.run("segment.pass_create", {"document_id": document_id, "name": "By hand"})["id"]
    return {
        "segments": [
            {"document_id": document_id, "pass_id": pass_id, "kind": "line", "anchor": sample_anchor(n)}
            for n in range(3)
        ]
    }


def segment_update(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    return {
        "segment_id": page.segment_ids[0],
        "expected_version": 1,
        "anchor": {"rect": [0.12, 0.1, 0.76, 0.05]},
        "direction": "ltr",
    }


def segment_delete(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    return {
        "segment_ids": page.segment_ids[:2],
        "expected_versions": [1, 1],
        "reason": "Bleed-through, no line",
    }


def segment_undelete(ex: Example) -> dict[str, Any]:
    params = segment_delete(ex)
    ex.run("segment.delete", params)
    return {"segment_ids": params["segment_ids"]}


def segment_restore_version(ex: Example) -> dict[str, Any]:
    params = segment_update(ex)
    ex.run("segment.update", params)
    return {"segment_id": params["segment_id"], "version": 1, "expected_version": 2}


def source_setting_set(ex: Example) -> dict[str, Any]:
    return {"level": "node", "key": "language", "value": "fr", "target_id": sample_document(ex)}


def source_setting_clear(ex: Example) -> dict[str, Any]:
    ex.run("source_setting.set", {"level": "project", "key": "script", "value": "Latn"})
    return {"level": "project", "key": "script"}


def segment_take_lines(ex: Example) -> dict[str, Any]:
    return {
        "document_id": sample_document(ex),
        "name": "Lines found",
        "provider": "sample-reader",
        "model": "sample",
        "lines": [
            {"key": "r", "kind": "region", "rect": [0.05, 0.05, 0.9, 0.4]},
            {"key": "l1", "rect": sample_anchor(0)["rect"], "parent_key": "r", "confidence": 0.9},
            {"key": "l2", "rect": sample_anchor(1)["rect"], "parent_key": "r", "text": "Dear Sir"},
        ],
    }


def reading_take(ex: Example) -> dict[str, Any]:
    page = sample_page(ex)
    return {
        "document_id": page.document_id,
        "pass_id": page.pass_id,
        "provider": "sample-reader",
        "model": "sample",
        "readings": [
            {
                "segment_id": page.segment_ids[0],
                "text": "Dear Sir",
                "confidence": 0.8,
                "places": {
                    "frame": [0.1, 0.1, 0.8, 0.0, 0.0, 0.05],
                    "letters": [n for at in range(8) for n in (1000 * at, 1000 * at + 1000, 0, 9000, 8000)],
                    "others": {"1": [["c", 0.1]]},
                },
            },
            {"segment_id": page.segment_ids[1], "text": "your letter of the third"},
        ],
    }


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "segment.convert_page": segment_convert_page,
    "reading_order.fill": reading_order_fill,
    "segment.merge": segment_merge,
    "segment.split": segment_split,
    "link.create": link_create,
    "link.delete": link_delete,
    "link.restore": link_restore,
    "segment.match_propose": segment_match_propose,
    "segment.match_accept": segment_match_accept,
    "segment.match_reject": segment_match_accept,
    "segment.match_withdraw": segment_match_accept,
    "segment.carry": segment_carry,
    "reading_order.create": reading_order_create,
    "reading_order.place": reading_order_place,
    "reading_order.withdraw": reading_order_withdraw,
    "reading_order.restore": reading_order_restore,
    "reading_order.renumber": lambda ex: {"order_id": reading_order_place(ex)["order_id"]},
    "reading_order.remove": reading_order_remove,
    "reading_order.columns": reading_order_columns,
    "segment.pass_create": segment_pass_create,
    "segment.pass_delete": segment_pass_delete,
    "segment.pass_restore": segment_pass_restore,
    "segment.pass_choose": segment_pass_choose,
    "segment.pass_ground_truth": segment_pass_ground_truth,
    "representation.create": representation_create,
    "representation.create_many": representation_create_many,
    "reading.choose": reading_choose,
    "reading.retract": reading_retract,
    "reading_kind.create": lambda ex: {"key": "paraphrase", "label": "Paraphrase"},
    "segment.create": segment_create,
    "segment.create_many": segment_create_many,
    "segment.update": segment_update,
    "segment.delete": segment_delete,
    "segment.undelete": segment_undelete,
    "segment.restore_version": segment_restore_version,
    "source_setting.set": source_setting_set,
    "source_setting.clear": source_setting_clear,
    "segment.take_lines": segment_take_lines,
    "reading.take": reading_take,
}
