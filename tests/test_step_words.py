"""Every step of a project has words for people, and what those words name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from armarium.actions import Action
from armarium.engine import Engine
from armarium.settings import Settings

SLOT = re.compile(r"\{(\w*)")


@pytest.fixture(scope="module")
def actions(tmp_path_factory: pytest.TempPathFactory) -> list[Action]:  # type: ignore[type-arg]
    state: Path = tmp_path_factory.mktemp("state")
    return Engine(Settings(state_dir=state)).actions.all()


def said(found: Action) -> set[str]:  # type: ignore[type-arg]
    """Every text the words of an action can come to: a function is asked with each of its flags set and not set."""
    if found.words is None or isinstance(found.words, str):
        return {found.words or ""}
    names = list(found.params.model_fields)
    return {found.words(dict.fromkeys(names, value)) for value in (True, False, None)} | {found.words({})}


def test_every_action_of_a_project_says_in_words_what_its_steps_did(actions: list[Action]) -> None:  # type: ignore[type-arg]
    wordless = [one.name for one in actions if one.scope != "engine" and one.words is None]
    assert not wordless


def test_the_words_name_parameters_that_the_action_has(actions: list[Action]) -> None:  # type: ignore[type-arg]
    for one in actions:
        for text in said(one):
            slots = set(SLOT.findall(text)) - {""}
            assert slots <= set(one.params.model_fields), f"{one.name}: {text}"
            assert text.count("{") == text.count("}"), f"{one.name}: {text}"
            assert not text or (text[0].isupper() and not text.endswith(".")), f"{one.name}: {text}"
