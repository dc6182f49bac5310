"""What README, manual and model card say of the readers is what their measurements gave."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from armarium_reader_hand.cards import shipped_card

TRAINING = Path(__file__).parents[1]
if str(TRAINING) not in sys.path:
    sys.path.append(str(TRAINING))

from training.card import CARD, markdown  # noqa: E402

ROOT = Path(__file__).parents[3]


def percent(share: float, digits: int = 0) -> str:
    return f"{share:.{digits}%}".replace("%", " %")


def test_the_model_card_for_people_is_the_one_for_programs() -> None:
    assert CARD.read_text("utf-8") == markdown(shipped_card())


@pytest.mark.parametrize(
    "document",
    ["README.md", "docs/using.md", "docs/other-programs.md", "plugins/reading/README.md"],
)
def test_documents_state_the_figures_of_the_card(document: str) -> None:
    card = shipped_card()
    kinds, choice = card["evaluation"]["by_kind"], card["choice"]["pages"]
    hands = [
        row["cer"] for name, row in card["evaluation"]["by_source"].items() if name.endswith("(unseen hand)")
    ]
    hand, typed, printed = (kinds[f"unseen {kind}"]["cer"] for kind in ("hand", "typed", "print"))
    right, of = choice["all unseen"]
    every, of_every = (sum(choice[kind][at] for kind in choice if kind != "all unseen") for at in (0, 1))
    said = {
        "README.md": [
            f"gets {percent(hand)} of the characters wrong",
            f"{percent(min(hands))} in medieval books to {percent(max(hands))} in hasty modern hands",
            f"RapidOCR gets about {percent(kinds['unseen hand']['rapidocr']['cer'])} wrong",
            f"gets {percent(typed, 1)} wrong, on print {percent(printed, 1)}",
        ],
        "docs/using.md": [
            f"{min(hands):.0%} to {percent(max(hands))} of the characters wrong, {percent(hand)} on average".replace(
                "%", "", 1
            )
        ],
        "docs/other-programs.md": [f"gets {percent(hand)} of the characters wrong on hands it never saw"],
        "plugins/reading/README.md": [
            f"Of {of} pages of sources on which the hand reader was not trained, {right} ({percent(right / of, 1)})",
            f"and so are {every} of all {of_every} measured",
        ],
    }
    text = " ".join((ROOT / document).read_text("utf-8").split())
    for sentence in said[document]:
        assert sentence in text
