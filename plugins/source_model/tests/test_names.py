"""Names that differ only in how they are spelled or turned round are the same name, and other names are not."""

from __future__ import annotations

import unicodedata
from itertools import combinations

import pytest

from armarium.api import words_of
from armarium_source_model.folding import fold_name, name_forms, name_words

SAME = (
    ("Juan de la Cruz", "Cruz, Juan de la"),
    ("José María Pérez", "Pérez, José María", "PEREZ, JOSE MARIA.", "Pérez, José María, 1801-1870."),
    (
        "Elsa Lund",
        "Lund, Elsa.",
        "lund, elsa",
        "Lund, Elsa, 1850-",
        "Lund, Elsa (1850-1910).",
        "Elsa Lund [b. 1850]",
    ),
    ("Juan Cruz", "Cruz， Juan", "Cruz، Juan", "Cruz, Juan"),
    ("Nora O'Hare", "Nora O’Hare", "Nora OʼHare", "O'Hare, Nora", "nora o´hare"),
    ("Saint-Denis", "Saint‑Denis", "Saint Denis", "SAINT–DENIS"),
    ("Köhler", "Koehler", "KÖHLER", "Ko\u0308hler"),
    ("Müller, Änne", "Aenne Mueller", "Änne Müller"),
    ("Łódź", "lodz", "LODZ"),
    ("Agüero", "Aguero", "AGÜERO"),
    ("Strauß", "Strauss"),
    ("al-Ḥasan ibn ʿAlī", "al-Hasan ibn Ali", "al-Ḥasan ibn ‘Alī"),
    ("李白", "李 白"),
)
DIFFERENT = (
    ("Joe Smith", "Jo Smith"), ("Xue Wei", "Xu Wei"), ("Koehler", "Kohler"), ("Manuel", "Manul"),
    ("Juan Cruz", "Juan de la Cruz"), ("Ana", "Anna"), ("Lund, Elsa", "Lund, Else"),
    ("Frankfurt (Oder)", "Frankfurt"),
)  # fmt: skip


def are_same(one: str, other: str) -> bool:
    return bool(set(name_forms(one)) & set(name_forms(other)))


@pytest.mark.parametrize("names", SAME, ids=lambda names: names[0])
def test_spellings_of_one_name_are_the_same(names: tuple[str, ...]) -> None:
    for one, other in combinations(names, 2):
        assert are_same(one, other), (name_forms(one), name_forms(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_names_stay_apart(one: str, other: str) -> None:
    assert not are_same(one, other)


@pytest.mark.parametrize("name", ["", " ", ",", "...", "''", ", ,"])
def test_signs_alone_are_no_name(name: str) -> None:
    assert name_forms(name) == ()


def test_the_fold_of_names_is_that_of_the_search_of_texts() -> None:
    for name in (
        "Nora O'Hare_2 x-Y",
        *(name for names in SAME for name in names if "ʼ" not in name and "ʿ" not in name),
    ):
        assert fold_name(name) == " ".join(words_of(name)), name
        assert fold_name(fold_name(name)) == fold_name(name)


def test_words_of_a_line_keep_their_places_in_both_spellings() -> None:
    line = unicodedata.normalize("NFC", "bei Frau Köhler, in OʼHares Haus")
    plain, spelled = name_words(line)
    assert [word.word for word in plain] == ["bei", "frau", "kohler", "in", "o", "hares", "haus"]
    assert [word.word for word in spelled] == ["bei", "frau", "koehler", "in", "o", "hares", "haus"]
    assert [line[word.start : word.end] for word in spelled] == [
        "bei",
        "Frau",
        "Köhler",
        "in",
        "O",
        "Hares",
        "Haus",
    ]
    assert name_words("bei Frau Kohler") == name_words("bei Frau Kohler")[:1]
