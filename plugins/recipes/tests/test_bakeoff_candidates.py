"""Which readers take part in a bake-off: the best three, an engine for print, one of each kind; trained models only on
pages they have not seen; remote providers only where pages may leave this machine.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import bakeoff_readers as readers
import pytest
from bakeoff_fixtures import URL, Desk, row_of

from armarium.api import Engine, Library
from armarium.principals import LOCAL_OWNER
from armarium_recipes.bakeoffs import finders, rows, starting
from armarium_recipes.bakeoffs.contenders import Contender, choose_contenders
from armarium_recipes.bakeoffs.rows import cost_of
from armarium_recipes.schemas.bakeoffs import StartBakeoff
from armarium_recipes.schemas.cards import Card, Refusal
from armarium_testing.model_provider import LoopbackProvider


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    return Desk(engine, library, client)


def card(identity: str, rank: int | None = None, **more: Any) -> Card:
    told: dict[str, Any] = {
        "id": identity,
        "name": identity,
        "source": "shipped",
        "pin": {},
        "jobs": ["read-a-line"],
        "material": ["handwriting", "print"],
        "scripts": [],
        "languages": [],
        "licence": None,
        "open_licence": True,
        "size_gb": 0.1,
        "memory_gb": 0.1,
        "trainable": False,
        "runs_where": "this_mac",
        "availability": "ships",
        "availability_words": "It comes with the engine.",
        "installed": True,
        "rule_rank": rank,
        "reader": identity.partition(":")[0],
    }
    return Card(**{**told, **more})


def test_what_a_card_says_of_its_figures_is_not_said_of_measured_ones() -> None:
    unmeasured = card("hand:a@1", note="It has not been measured yet.")
    for why, note in ((None, None), ("It is not installed.", unmeasured.note)):
        assert rows.row_of(Contender(unmeasured, "hand", "contender", why), 10)["note"] == note


def choose(
    *cards: Card, material: str = "handwriting", languages: tuple[str, ...] = ("en",)
) -> dict[str, tuple[str, str | None]]:
    contenders = choose_contenders(
        cards,
        material=material,
        languages=languages,
        is_print_engine=lambda one: (one.reader or "").startswith("print"),
    )
    return {item.card.id if item.card else item.kind: (item.role, item.why) for item in contenders}


def test_three_are_the_best_by_rule_and_each_kind_sends_one_more() -> None:
    refused = Refusal(kind="no-model-for-language", reason="It does not read it.")
    told = choose(
        *(card(f"one:{number}@1", number) for number in range(1, 5)),
        card("platform:text@1", refused=refused, installed=False),
        card("mlx:seer@1", refused=refused),
        card("cloud:far@1", 5, runs_where="provider", availability="elsewhere", installed=False),
        card("builtin:fitting-reader@1", 6, reader=None),
    )
    assert [told[f"one:{number}@1"][0] for number in (1, 2, 3)] == ["rule-rank"] * 3
    assert "one:4@1" not in told
    assert told["mlx:seer@1"] == ("contender", "It does not read it.")
    assert told["cloud:far@1"] == ("contender", None)
    assert told["platform:text@1"][0] == "contender"
    assert len(told) == 6
    nobody = choose()
    assert set(nobody) == {"linereader", "platform", "vision", "cloud"}
    assert all(why for _, why in nobody.values())


def test_a_print_engine_competes_with_readers_of_print_when_it_knows_the_language() -> None:
    able = [card(f"one:{number}@1", number) for number in range(1, 4)]
    speaks = card("print:latin@1", 4, languages=["la", "en-GB"])
    other_card = card("printer:greek@1", 5, languages=["el"])
    assert choose(*able, other_card, speaks, material="print")["print:latin@1"] == ("print-baseline", None)
    assert "printer:greek@1" not in choose(*able, other_card, material="typescript")
    by_hand = choose(card("print:latin@1", 1), *able)
    assert "print:latin@1" not in by_hand
    away = card(
        "print:away@1",
        4,
        availability="download",
        availability_words="It has to be fetched.",
        installed=False,
    )
    assert choose(*able, away, material="print")["print:away@1"] == (
        "print-baseline",
        "It has to be fetched.",
    )


def test_what_a_volume_costs_is_reckoned_from_the_price_of_a_page() -> None:
    assert cost_of(card("one@1"), 500)["value"] == 0
    far = card("cloud:far@1", runs_where="provider", cost_per_page=0.002)
    assert (cost_of(far, 500)["value"], cost_of(far, 500)["basis"]) == (1.0, "estimate")
    unknown = cost_of(far.model_copy(update={"cost_per_page": None}), 500)
    assert (unknown["value"], unknown["basis"]) == (None, "unknown")


def plan(desk: Desk, who: Any = LOCAL_OWNER) -> Any:
    with desk.library.db.read() as conn:
        return starting.plan_bakeoff(conn, desk.engine, desk.library, who, StartBakeoff())


def test_a_trained_reader_is_measured_only_on_what_it_holds_out(desk: Desk) -> None:
    desk.give(readers.First, readers.Trainable)
    desk.set_up()
    pages = [desk.page()[0] for _ in range(4)]
    folder = desk.library.models / "trainable"
    folder.mkdir(parents=True)
    (folder / "mine.trained").write_bytes(b"x")

    def holds_out(*held: str, base_seen: tuple[str, ...] = ()) -> dict[str, Any]:
        told = {
            "id": "mine",
            "held_out": [{"document_id": page} for page in held],
            "training_set": {"documents": [{"document_id": page} for page in set(pages) - set(held)]},
            "base_seen": [{"document_id": page} for page in base_seen],
        }
        (folder / "mine.card.json").write_text(json.dumps(told))
        planned = plan(desk)
        return {
            "row": next(row for row in planned.rows if row["card"] == "trainable:mine@1"),
            "plan": planned,
        }

    # Two held-out pages are enough: every candidate is measured on those two.
    told = holds_out(*pages[:2])
    assert told["row"]["not_scored"] is None
    assert [page["document_id"] for page in told["plan"].corrected.pages] == pages[:2]
    assert {one["document_id"] for one in told["plan"].corrected.left_out} == set(pages[2:])
    assert told["plan"].evaluation["held_out_ids"] == pages[:2]
    # One held-out page is too few, and one that its base was trained on does not count: the model is then not measured,
    # and the others are measured on all pages.
    for too_little in (holds_out(pages[0]), holds_out(*pages[:2], base_seen=(pages[0],))):
        assert "only pages that were held out of its training" in too_little["row"]["not_scored"]
        assert "A bake-off needs 100 on 2: hold out more" in too_little["row"]["not_scored"]
        assert len(too_little["plan"].corrected.pages) == 4
        assert "mine" not in [candidate["model"] for candidate in too_little["plan"].evaluation["candidates"]]


def test_a_provider_elsewhere_is_priced_and_tried_only_where_pages_may_leave(desk: Desk) -> None:
    desk.give(readers.First)
    desk.page(), desk.page()
    with LoopbackProvider() as provider:
        provider.add_to(desk.engine, "Far", host="http://93.184.216.34", input_cost=3.0, output_cost=15.0)

        def far(who: Any = LOCAL_OWNER, **answers: Any) -> dict[str, Any]:
            desk.set_up(pages=1000, **answers)
            return next(row for row in plan(desk, who).rows if row["card"].startswith("cloud:"))

        stays = far()
        assert "may not leave" in stays["not_scored"]
        assert stays["cost_usd"]["value"] > 0
        assert (stays["local"], stays["runs_on"]) == (False, "cloud:Far")
        leaves = far(cloud_allowed=True)
        assert leaves["not_scored"] is None
        assert leaves["measured_as"] == {"reader": "vision", "model": "tiny", "trained": False}
        # A machine cannot consent to sending pages.
        agent = replace(LOCAL_OWNER, kind="machine", role="editor", name="an agent", token_kind="agent")
        assert "Only a person can start" in far(agent, cloud_allowed=True)["not_scored"]


@pytest.mark.slow
def test_a_model_that_this_machine_serves_is_measured_like_the_others(desk: Desk) -> None:
    desk.give(readers.First)
    desk.set_up()
    desk.page(), desk.page()
    with LoopbackProvider() as provider:
        provider.answers = [f"line {number}" for number in range(60)] * 2
        provider.add_to(desk.engine, "Here")
        result = desk.run()
    here = next(candidate for candidate in result["candidates"] if candidate["provider"] == "Here")
    assert here["cer"]["diplomatic"] == 0, here
    assert here["local"] is True
    assert result["candidates"][0] == here
    assert desk.rows("SELECT count(*) FROM content_representation WHERE producer_model = 'tiny'") == [(0,)]


def test_a_running_bake_off_cannot_be_used_and_a_finder_without_a_reader_is_not_tried(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.give(readers.First)
    desk.set_up()
    desk.page(), desk.page()
    begun = desk.start()
    used = desk.client.post(f"{URL}/{begun['id']}/use", json={"card": "first:base@1"})
    assert used.json()["code"] == "not_done"
    row = row_of(begun, "first:base@1")
    assert (row["cer"], row["not_scored"]) == (None, None)
    alone = card("one:finder@1", jobs=["find-lines"], reader=None)
    monkeypatch.setattr(finders, "cards_here", lambda engine, library: [alone])
    refused = desk.client.post(URL, json={"step": "find-lines"})
    assert refused.json()["code"] == "no_candidate"
    assert "No installed reader runs one:finder@1" in refused.json()["detail"]


def test_pages_that_no_model_may_look_at_are_left_out(desk: Desk) -> None:
    desk.give(readers.First)
    desk.set_up()
    hidden, _ = desk.page()
    desk.page(), desk.page()
    desk.do("rights.set", {"target_kind": "document", "target_id": hidden, "model_use": "none"})
    corrected = plan(desk).corrected
    assert corrected.lines == 120
    assert hidden in [one["document_id"] for one in corrected.left_out]
