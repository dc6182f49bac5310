"""Typed values are converted as Typer itself converts them, and tables fit the terminal."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer._adapters import build_adapter
from typer.models import ArgumentInfo, OptionInfo

from armarium_cli.tables import draw_table
from armarium_cli.values import NO, _value


class Colour(enum.StrEnum):
    red = "red"
    blue = "blue"


KINDS: list[tuple[Any, dict[str, Any]]] = [
    (str, {}),
    (int, {}),
    (int, {"min": 1, "max": 1000}),
    (float, {}),
    (float, {"min": 0.0, "max": 1.0}),
    (Colour, {}),
    (Colour, {"case_sensitive": False}),
    (Literal["strict", "relaxed"], {}),
    (Path, {}),
    (Path, {"exists": True}),
]
TYPED = st.one_of(
    # A shell cannot pass NUL; bytes that are no UTF-8 arrive as the surrogates from U+DC80 on, and no others.
    st.text(
        st.characters(codec="utf-8", exclude_characters="\0")
        | st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF),
        max_size=12,
    ),
    st.sampled_from(
        [
            "red",
            "RED",
            "blue",
            "strict",
            "1",
            "0",
            "-1",
            "1001",
            "1.5",
            "1e3",
            "nan",
            "inf",
            " 7 ",
            "1_000",
            "٣",
            "0x1",
            "/",
            ".",
            "",
        ]
    ),
    st.integers(-5, 2000).map(str),
    st.floats().map(str),
)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("kind", "rules"), KINDS, ids=str)
@given(data=st.data())
def test_a_plain_value_is_what_typer_makes_of_it(
    kind: Any, rules: dict[str, Any], several: bool, data: st.DataObject
) -> None:
    given_ = data.draw(st.lists(TYPED, max_size=3) if several else TYPED)
    annotation = list[kind] if several else kind
    info = (ArgumentInfo if several else OptionInfo)(default=None, **rules)
    mine = _value(given_, annotation, info, several)
    if mine is NO:
        return
    theirs = build_adapter(annotation, info).validate_python(given_)
    assert (mine, type(mine)) == (theirs, type(theirs))


@pytest.mark.parametrize("room", [60, 80, 120])
def test_a_table_is_no_wider_than_the_terminal_and_never_cuts_an_id(
    monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr("armarium_cli.tables._room", lambda: room)
    identity = "0123456789abcdef0123456789abcdef"
    said = "En la villa de Puerto Claro a tres días del mes de marzo"
    lines = list(
        draw_table(
            "", ("id", "what", "why"), [(identity, said, said), (identity, "文字" * 20, "e\u0301" * 30)]
        )
    )
    assert identity in lines[3]
    assert {len(line) for line in lines[:4]} <= set(range(room + 1))
    words = "".join(line.split("│")[2].strip() + " " for line in lines[3:] if "│" in line)
    assert "".join(said.split()) in "".join(words.split())
    assert "文字" * 20 in "".join(words.split())
