"""Examples of the actions and recipe jobs of paleography: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example, new_id
from armarium_paleography.records.likeness import vectors
from armarium_testing.sample_pages import sample_page


def sample_lines(ex: Example, count: int = 2) -> tuple[str, list[str]]:
    """Create a page with lines; return (document, segments)."""
    page = sample_page(ex, lines=count)
    return page.document_id, page.segment_ids


def sample_hand(ex: Example) -> str:
    """Create a hand; return its id."""
    return str(ex.run("hand.create", {"label": "Hand A"})["id"])


def campaign_create(ex: Example) -> dict[str, Any]:
    page, _ = sample_lines(ex)
    return {"document_id": page, "name": "Main text", "date": "about 1250"}


def campaign_assign(ex: Example) -> dict[str, Any]:
    page, lines = sample_lines(ex)
    result = ex.run("campaign.create", {"document_id": page, "name": "Main text"})
    return {"segment_id": lines[0], "campaign_id": result["id"]}


def campaign_assign_reading(ex: Example) -> dict[str, Any]:
    assigned = campaign_assign(ex)
    result = ex.run("representation.create", {"segment_id": assigned["segment_id"], "text": "In principio"})
    return {"representation_id": result["id"], "campaign_ids": [assigned["campaign_id"]]}


def editorial_create(ex: Example) -> dict[str, Any]:
    _, lines = sample_lines(ex)
    ex.run("representation.create", {"segment_id": lines[0], "text": "In principio erat uerbum"})
    return {
        "segment_id": lines[0],
        "kind": "unclear",
        "char_start": 3,
        "char_end": 12,
        "reason": "faded",
        "certainty": 0.6,
    }


def hand_attribute(ex: Example) -> dict[str, Any]:
    _, lines = sample_lines(ex)
    return {"hand_id": sample_hand(ex), "segment_id": lines[0], "certainty": 0.8, "note": "The same g"}


def hand_merge(ex: Example) -> dict[str, Any]:
    _, lines = sample_lines(ex)
    hand, other_hand = sample_hand(ex), sample_hand(ex)
    ex.run("hand.attribute", {"hand_id": other_hand, "segment_id": lines[0]})
    return {"hand_id": hand, "other_ids": [other_hand]}


def sign_example(ex: Example) -> str:
    _, lines = sample_lines(ex)
    return str(ex.run("sign.create", {"name": "A cross", "picture_segment_id": lines[0]})["id"])


def allograph_example(ex: Example) -> str:
    return str(ex.run("letterform.allograph_create", {"character": "s", "name": "long s"})["id"])


def letterform_set(ex: Example) -> dict[str, Any]:
    _, lines = sample_lines(ex)
    form = ex.run("letterform.allograph_create", {"character": "g", "name": "open g"})
    return {
        "segment_id": lines[0],
        "character": "g",
        "allograph_id": form["id"],
        "features": [{"component": "bowl", "feature": "open"}],
    }


def letterform_allograph_withdraw(ex: Example) -> dict[str, Any]:
    return {"allograph_id": ex.run("letterform.allograph_create", {"character": "s", "name": "long s"})["id"]}


def likeness_look(ex: Example) -> dict[str, Any]:
    page, _ = sample_lines(ex)
    return {"scope_ids": [page]}


def likeness_propose(ex: Example) -> dict[str, Any]:
    import numpy as np

    page, lines = sample_lines(ex)
    ex.run("hand.attribute", {"hand_id": sample_hand(ex), "segment_id": lines[0]})
    # Other examples need no second page: vectors are compared by how they differ from the mean of the
    # project.
    alike = np.random.default_rng(int(page[-8:], 16)).normal(size=3).astype(np.float16).tobytes()
    rows = [
        {"segment_id": line, "document_id": page, "fingerprint": "made", "vector": alike} for line in lines
    ]
    assert ex.library is not None
    with ex.library.db.write() as conn:
        conn.execute(vectors.insert(), rows)
    return {"kind": "hand", "segment_ids": [lines[1]]}


def likeness_accept(ex: Example) -> dict[str, Any]:
    return {"proposal_id": ex.run("likeness.propose", likeness_propose(ex))["items"][0]["id"]}


def sign_create(ex: Example) -> dict[str, Any]:
    _, lines = sample_lines(ex)
    return {
        "name": "p with a flourish",
        "picture_segment_id": lines[0],
        # From the supplementary private use area: a code point belongs to one live sign, and a project may
        # contain several examples.
        "code_point": f"U+{0xF0000 + int(new_id()[-8:], 16) % 0xFFFE:04X}",
        "list_references": [{"authority": "Cappelli", "number": "256"}],
    }


def sign_add_instance(ex: Example) -> dict[str, Any]:
    result = ex.run("sign.create", sign_create(ex))
    return {"sign_id": result["id"], "segment_id": result["picture_segment_id"], "certainty": 0.9}


def sign_take(ex: Example) -> dict[str, Any]:
    _, lines = sample_lines(ex)
    return {"signs": [{"segment_id": line, "name": "A cross"} for line in lines]}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "campaign.create": campaign_create,
    "campaign.update": lambda ex: {
        "campaign_id": ex.run("campaign.create", campaign_create(ex))["id"],
        "name": "Main text, corrected",
    },
    "campaign.withdraw": lambda ex: {"campaign_id": ex.run("campaign.create", campaign_create(ex))["id"]},
    "campaign.assign": campaign_assign,
    "campaign.assign_reading": campaign_assign_reading,
    "editorial.create": editorial_create,
    "editorial.withdraw": lambda ex: {"fact_id": ex.run("editorial.create", editorial_create(ex))["id"]},
    "hand.create": lambda ex: {"label": "Hand A", "scribe": "Johannes", "style": "littera textualis"},
    "hand.withdraw": lambda ex: {"hand_id": sample_hand(ex)},
    "hand.attribute": hand_attribute,
    "hand.attribution_withdraw": lambda ex: {
        "attribution_id": ex.run("hand.attribute", hand_attribute(ex))["id"]
    },
    "hand.update": lambda ex: {"hand_id": sample_hand(ex), "label": "Hand B", "scribe": None},
    "hand.merge": hand_merge,
    "sign.update": lambda ex: {"sign_id": sign_example(ex), "name": "A cross of consecration"},
    "sign.merge": lambda ex: {"sign_id": sign_example(ex), "other_ids": [sign_example(ex)]},
    "letterform.allograph_update": lambda ex: {"allograph_id": allograph_example(ex), "name": "tall s"},
    "letterform.allograph_merge": lambda ex: {
        "allograph_id": allograph_example(ex),
        "other_ids": [allograph_example(ex)],
    },
    "letterform.set": letterform_set,
    "letterform.clear": lambda ex: {"segment_id": ex.run("letterform.set", letterform_set(ex))["segment_id"]},
    "letterform.allograph_create": lambda ex: {"character": "s", "name": "long s"},
    "letterform.allograph_withdraw": letterform_allograph_withdraw,
    "likeness.look": likeness_look,
    "likeness.propose": likeness_propose,
    "likeness.accept": likeness_accept,
    "likeness.reject": likeness_accept,
    "sign.create": sign_create,
    "sign.withdraw": lambda ex: {"sign_id": ex.run("sign.create", sign_create(ex))["id"]},
    "sign.add_instance": sign_add_instance,
    "sign.instance_withdraw": lambda ex: {
        "instance_id": ex.run("sign.add_instance", sign_add_instance(ex))["id"]
    },
    "sign.take": sign_take,
}
