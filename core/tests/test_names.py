"""Names and texts of one form: what is taken off, what is refused, and in which words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from armarium.guard.spelling import RowId, ScriptCode
from armarium.names.proper import proper_name
from armarium.web.unknown_ids import NO_ID


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("\u202egpj.exe", "gpj.exe"),
        ("\u202aC.jpg", "C.jpg"),
        ("a\u200bb\ufeff\u00ad", "ab"),
        ("\u2067\u05d0\u2069 1", "\u05d0 1"),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
        ("\u05d0\u200e1", "\u05d0\u200e1"),
        ("\u200b Cre\u0300me ", "Cr\u00e8me"),
    ],
)
def test_a_name_keeps_only_what_is_seen_or_joins_letters(given: str, name: str) -> None:
    assert proper_name(given) == name


@pytest.mark.parametrize("given", ["", " \u202e ", "\u200b", "a\u0085b", "a\u2028b"])
def test_a_name_of_nothing_seen_or_with_a_control_character_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match=r"^a name (needs|holds no)"):
        proper_name(given)


def test_a_text_of_another_form_is_refused_in_words() -> None:
    for kind, given, words in (
        (RowId, "a b", "should be an id: letters, digits, _ and -"),
        (RowId, "a\n", "should be an id: letters, digits, _ and -"),
        (ScriptCode, "latin", "should be an ISO 15924 code of four letters, such as Latn"),
    ):
        adapter = TypeAdapter(kind)
        with pytest.raises(ValidationError) as refused:
            adapter.validate_python(given)
        (fault,) = refused.value.errors()
        assert (fault["msg"], fault["type"] in NO_ID) == (words, True)
    assert TypeAdapter(RowId).json_schema() == {
        "type": "string",
        "minLength": 1,
        "maxLength": 64,
        "pattern": "^[0-9A-Za-z_-]+$",
    }


def test_no_field_is_refused_with_a_regular_expression() -> None:
    root = Path(__file__).parents[2]
    bare = re.compile(r"\b(Field|Query|Path|Header|StringConstraints)\((?:[^()]|\([^()]*\))*\bpattern=")
    sources = [*root.glob("core/src/**/*.py"), *root.glob("plugins/*/src/**/*.py")]
    assert [path.name for path in sources if bare.search(path.read_text(encoding="utf-8"))] == []
