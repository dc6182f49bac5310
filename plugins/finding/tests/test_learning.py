"""The learned model: fitted to what persons judged, used where it beats the rules, never accepting."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from finding_desk import Desk

from armarium_finding.learning import (
    FEATURES,
    Example,
    Model,
    fit,
    losses,
    model_that_beats_the_rules,
    rules_probability,
)
from armarium_finding.pictures import bits_apart, look_of

HELD = len(FEATURES)


def numbers(**given: float) -> tuple[float, ...]:
    row = [0.0] * HELD
    for name, value in given.items():
        row[FEATURES.index(name.replace("_", " "))] = value
    return tuple(row)


def make_judged_folders(
    folder: str, count: int, dice: random.Random, *, helpful: bool = True
) -> list[Example]:
    """Folders in which no cue says anything, and a document begins where the page before is short."""
    found = []
    for _ in range(count):
        boundary = dice.random() < 0.4
        short = boundary if helpful else dice.random() < 0.5
        found.append(Example(folder, numbers(fill_before=0.3 if short else 1.0), boundary))
    return found


def test_the_fit_is_where_the_slope_of_the_penalised_loss_is_naught() -> None:
    dice = random.Random(7)
    examples = [
        Example("a", numbers(openings=dice.random() * 5, fill_before=dice.random()), dice.random() < 0.5)
        for _ in range(40)
    ]
    model = fit(examples)

    def loss(changed: Model) -> float:
        total = sum(w * w for w in changed.weights) / 2
        for example in examples:
            p = changed.probability(example.numbers)
            total -= math.log(p if example.boundary else 1.0 - p)
        return total

    least = loss(model)
    for index in (0, 7):
        for by in (-0.05, 0.05):
            weights = list(model.weights)
            weights[index] += by
            assert loss(Model(tuple(weights), model.bias, model.means, model.scales)) > least


def test_it_is_used_only_where_it_beats_the_rules_on_folders_held_out() -> None:
    dice = random.Random(3)
    good = [*make_judged_folders("a", 40, dice), *make_judged_folders("b", 40, dice)]
    model, rules, base = losses(good)
    assert model.mistakes == 0
    assert rules.mistakes == base.mistakes == sum(one.boundary for one in good)
    share = base.mistakes / len(good)
    assert base.squared == pytest.approx(share * (1 - share))
    assert model_that_beats_the_rules(good) is not None
    assert model_that_beats_the_rules(good[:40]) is None  # one folder
    assert model_that_beats_the_rules([*good[:14], *good[40:55]]) is None  # 29 joins
    ruled = [Example(f, numbers(openings=5.0 if b else 0.0), b) for f in "ab" for b in (True, False) * 10]
    assert losses(ruled)[1].mistakes == 0
    assert model_that_beats_the_rules(ruled) is None  # the rules make no mistake
    alike = [Example(f, numbers(fill_before=1.0), False) for f in "ab" for _ in range(20)]
    assert model_that_beats_the_rules(alike) is None


def test_it_is_not_used_where_saying_the_same_of_every_join_is_as_good() -> None:
    """The rules cry boundary everywhere and are beaten easily, by the model as by no judgement at all."""
    dice = random.Random(5)
    noise = [
        Example(folder, numbers(openings=5.0, fill_before=dice.random()), dice.random() < 0.25)
        for folder in "abc"
        for _ in range(30)
    ]
    model, rules, base = losses(noise)
    assert model.mistakes < rules.mistakes
    assert base.mistakes <= model.mistakes or base.squared <= model.squared
    assert model_that_beats_the_rules(noise) is None


def test_the_rules_own_numbers_give_the_rules_probability() -> None:
    assert rules_probability(numbers(openings=2.0, closings=1.5)) == pytest.approx(0.817574, abs=1e-6)
    assert rules_probability(numbers(restart=1.0)) == pytest.approx(0.880797, abs=1e-6)
    assert rules_probability(numbers(split_word=1.0)) == pytest.approx(0.002473, abs=1e-6)


def test_a_picture_s_ink_and_hash(tmp_path: Path) -> None:
    from PIL import Image, ImageDraw

    def draw(name: str, box: tuple[int, int, int, int]) -> Path:
        picture = Image.new("L", (512, 512), 240)
        ImageDraw.Draw(picture).rectangle(box, fill=20)
        picture.save(tmp_path / name)
        return tmp_path / name

    quarter, same = look_of(draw("a.png", (0, 0, 255, 255))), look_of(draw("b.png", (0, 0, 255, 250)))
    other = look_of(draw("c.png", (256, 256, 511, 511)))
    assert quarter.ink == pytest.approx(0.25 * (1 - 20 / 240), abs=0.01)
    assert bits_apart(quarter, quarter) == 0
    assert bits_apart(quarter, same) < bits_apart(quarter, other)


START = "Habiendo llegado a esta villa se dio cuenta de todo lo hecho."
FULL = "\n".join(["Los bienes que se hallaron en la casa son los siguientes en el inventario."] * 8)
LAST = "Y nada más se halló."


def test_a_project_learns_where_its_documents_begin(desk: Desk) -> None:
    for name in ("First", "Second"):
        texts, starts = [], []
        for number in range(8):
            starts.append(len(texts))
            texts += [f"{START} {number}.\n{FULL} {name} {number}.", f"{LAST} {name * 3} {number}."]
            if number % 2:
                texts.insert(
                    -1,
                    f"{number} {name}\n"
                    + FULL.replace("casa", f"cueva {name} {number} del monte y del valle de Santa"),
                )
        folder, pages = desk.box(texts, name)
        found = desk.find(folder)
        assert found["method"] == "rules-1"
        for start in starts[1:]:
            document = next(
                document for document in found["documents"] if pages[start] in document["page_ids"]
            )
            if document["page_ids"][0] != pages[start]:
                answer = desk.post(
                    found["id"], "split", document_index=document["index"], page_id=pages[start]
                )
                assert answer.status_code == 200, answer.text
                found = answer.json()["proposal"]
    texts = []
    for number in range(6):
        texts += [f"{START} C {number}.\n{FULL} C {number}.", f"{LAST} C {number} y ya."]
    folder, pages = desk.box(texts, "Third")
    learned = desk.find(folder)
    assert learned["method"] == "learned-1"
    assert [document["page_ids"] for document in learned["documents"]] == [
        pages[n : n + 2] for n in range(0, 12, 2)
    ]
    assert all(document["state"] == "proposed" for document in learned["documents"])
    accepting = desk.find(folder, accept_above=0.5)
    assert accepting["method"] == "rules-1"
