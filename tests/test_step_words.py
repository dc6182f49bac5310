"""Every step of a project is described in words for people, and what those words name exists."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest

from armarium.actions import Action
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.settings import Settings

SLOT = re.compile(r"\{(\w*)")


@pytest.fixture(scope="module")
def actions(tmp_path_factory: pytest.TempPathFactory) -> list[Action]:  # type: ignore[type-arg]
    state: Path = tmp_path_factory.mktemp("state")
    return Engine(Settings(state_dir=state)).actions.all()


def list_texts(found: Action) -> set[str]:  # type: ignore[type-arg]
    """Return every text that the words of an action can produce: a function is called with each of its flags set and
    not set.
    """
    if found.words is None or isinstance(found.words, str):
        return {found.words or ""}
    names = list(found.params.model_fields)
    return {found.words(dict.fromkeys(names, value)) for value in (True, False, None)} | {found.words({})}


def test_every_action_of_a_project_says_what_its_steps_did(actions: list[Action]) -> None:  # type: ignore[type-arg]
    wordless = [action.name for action in actions if action.scope != "engine" and action.words is None]
    assert not wordless


def test_the_words_name_parameters_that_the_action_has(actions: list[Action]) -> None:  # type: ignore[type-arg]
    for action in actions:
        for text in list_texts(action):
            slots = set(SLOT.findall(text)) - {""}
            assert slots <= set(action.params.model_fields), f"{action.name}: {text}"
            assert text.count("{") == text.count("}"), f"{action.name}: {text}"
            assert not text or (text[0].isupper() and not text.endswith(".")), f"{action.name}: {text}"


def test_the_engine_s_log_asks_no_plugin_for_documents(
    engine: Engine, library: Library, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """They are in the projects; a look at the engine's log would otherwise record a plugin's failure."""
    engine.run(library, "document.create", {"name": "Letters"}, LOCAL_OWNER)
    with caplog.at_level(logging.WARNING):
        for scope in ("engine", "project"):
            answer = client.get("/api/actions/audit", params={"scope": scope}).json()
            assert (
                client.get(f"/api/actions/audit/{answer['items'][0]['id']}?scope={scope}").status_code == 200
            )
    assert answer["items"][0]["about"][0]["name"] == "Letters"
    assert caplog.text == ""
