"""Words as they were misread or spelled differently: which pages are found besides those with the word as written."""

from __future__ import annotations

import random

import pytest
from search_desk import EDITOR, SearchDesk

from armarium_search.queries import candidates
from armarium_search.vocabulary import MOST, Vocabulary, WordsOfLength


def edits_between(one: str, other: str) -> int:
    """How many letters must be changed, added, left out, or exchanged with a neighbour; by the textbook."""
    table = [[row + column for column in range(len(other) + 1)] for row in range(len(one) + 1)]
    for row in range(1, len(one) + 1):
        for column in range(1, len(other) + 1):
            differs = one[row - 1] != other[column - 1]
            best = min(
                table[row - 1][column] + 1, table[row][column - 1] + 1, table[row - 1][column - 1] + differs
            )
            exchanged = one[row - 2 : row] == other[column - 2 : column][::-1]
            if row > 1 and column > 1 and exchanged:
                best = min(best, table[row - 2][column - 2] + 1)
            table[row][column] = best
    return table[-1][-1]


def test_spellings_and_misreadings_are_found(desk: SearchDesk) -> None:
    page = desk.page("el conuento de San Franciſco")
    desk.page("nada")
    assert desk.ids("convento") == []
    answer = desk.ask("convento", use_fuzzy_match=True)
    assert [result["document_id"] for result in answer["results"]] == [page.id]
    assert answer["fuzzy_words"] == {"convento": ["conuento"]}
    assert answer["results"][0]["highlights"] == ["conuento"]
    assert desk.ids("Erancifco", use_fuzzy_match=True) == [page.id]


def test_pages_with_the_word_as_written_are_not_lost_behind_those_with_a_common_similar_one(
    desk: SearchDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "EXACT", 4)
    for _ in range(6):
        desk.page("couuento")
    page = desk.page("convento")
    starred = desk.page("convento", name="Starred")
    desk.do("document.update", {"document_id": starred.id, "is_starred": True})
    assert desk.ids("convento", use_fuzzy_match=True, limit=2) == [page.id, starred.id]
    assert desk.ids("convento", use_fuzzy_match=True, limit=1, filters={"is_starred": True}) == [starred.id]


def test_a_misreading_of_a_common_word_is_not_taken_for_one_of_a_rare_word(desk: SearchDesk) -> None:
    """Both words are two letters from the one asked for; only one of them is one letter from a word of many pages."""
    of_another = desk.page("mandas")
    of_this = desk.page("zanxos")
    asked = "zandos"
    assert edits_between(asked, "mandas") == 2
    assert edits_between(asked, "zanxos") == 1
    farther = desk.page("xanxos")
    for _ in range(5):
        desk.page("mandar")
    ids = desk.ids(asked, use_fuzzy_match=True, limit=100)
    assert ids.index(of_this.id) < ids.index(farther.id)
    assert of_another.id not in ids[: ids.index(farther.id)]


def test_the_length_of_a_page_does_not_matter_to_a_misread_word(desk: SearchDesk) -> None:
    """Two words that differ from the one asked for by the same letter: the pages come in the order of their creation,
    though the older is the longer.
    """
    long = desk.page("convepto " + " ".join(["y"] * 900))
    short = desk.page("conveqto")
    assert desk.ids("convento", use_fuzzy_match=True) == [long.id, short.id]


@pytest.mark.parametrize("letters", ["abcde", "אבגדהוזחט", "ابتثجحخدذرز", "αβγδεζηθ", "कखगघङचछज"])
def test_every_word_near_enough_is_looked_at(letters: str) -> None:
    """Words are first compared by their letters as bits; none that is near enough is lost by that, in any script."""
    chance = random.Random(letters)
    words = {"".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(300)}
    vocabulary = Vocabulary()
    for word in sorted(words):
        vocabulary.by_length.setdefault(len(word), WordsOfLength()).add([word])
    for asked in chance.sample(sorted(words), 25):
        for edits in (1, 2):
            near = {word for word in words if 0 < edits_between(asked, word) <= edits}
            found = {one for one, _ in vocabulary.find_near(asked, edits)}
            assert found <= near
            assert found == near or len(found) == MOST


@pytest.mark.parametrize("seed", range(4))
def test_random_projects(desk: SearchDesk, seed: int) -> None:
    """Pages with the word as written come first and in the order without `--fuzzy`; every other page has a word near
    enough; every page with a word one letter away that no other word explains is found; who sees less finds less.
    """
    chance = random.Random(seed)

    def word() -> str:
        return "".join(chance.choice("aeilnorst") for _ in range(chance.randint(4, 9)))

    words = [word() for _ in range(12)]

    def misread_word(text: str) -> str:
        letters = list(text)
        for at in chance.sample(range(len(letters)), chance.randint(1, 2)):
            letters[at] = chance.choice("aeilnorstmu")
        return "".join(letters)

    pages = {}
    for number in range(30):
        text = [chance.choice(words) for _ in range(chance.randint(1, 5))]
        if number % 2:
            text[0] = misread_word(text[0])
        pages[desk.page(" ".join(text)).id] = set(text)
    withheld = chance.choice(list(pages))
    record = {"target_kind": "document", "target_id": withheld, "restricted": True, "readers": []}
    desk.do("rights.set", record)
    for asked in words:
        farthest = 1 if len(asked) == 4 else 3 if len(asked) >= 9 else 2
        plain = desk.ids(asked, limit=100)
        ids = desk.ids(asked, use_fuzzy_match=True, limit=100)
        assert ids[: len(plain)] == plain
        assert set(plain) == {one for one, has in pages.items() if asked in has}
        near = {one for one, has in pages.items() if min(edits_between(asked, w) for w in has) <= farthest}
        assert set(ids) <= near
        alone = {
            one
            for one, has in pages.items()
            for w in has
            if edits_between(asked, w) == 1
            and not any(edits_between(w, v) <= 1 for page in pages.values() for v in page - {w, asked})
        }
        assert alone <= set(ids)
        document_ids = [result["document_id"] for result in
                desk.ask_as(EDITOR, asked, use_fuzzy_match=True, limit=100)["results"]]  # fmt: skip
        assert set(document_ids) <= set(pages) - {withheld}
        assert document_ids[: len([one for one in plain if one != withheld])] == [
            one for one in plain if one != withheld
        ]
