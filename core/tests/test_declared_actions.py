"""An action's parameters are what its function declares after the first."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from armarium.actions import ActionContext, Params, action
from armarium.errors import Invalid

Id = Annotated[str, Field(min_length=1)]


class Shelve(Params):
    shelf: str


@action("book.shelve", summary="Shelve a book.")
def shelve(ctx: ActionContext, p: Shelve) -> str:
    return p.shelf


@action("book.lend_out", summary="Lend a book.")
def lend(ctx: ActionContext, book_id: Id, days: int = 14) -> tuple[str, int]:
    return book_id, days


CTX: Any = None


def test_a_model_that_the_function_takes_is_the_type_of_the_parameters() -> None:
    assert shelve.params is Shelve
    assert shelve.perform(CTX, shelve.parse({"shelf": "A"})) == "A"


def test_plain_parameters_are_the_fields_of_a_model_of_their_own() -> None:
    assert lend.params.__name__ == "BookLendOut"
    assert lend.perform(CTX, lend.parse({"book_id": "b1"})) == ("b1", 14)
    assert lend.perform(CTX, lend.parse({"book_id": "b1", "days": 3})) == ("b1", 3)


@pytest.mark.parametrize(
    "sent", [{}, {"book_id": ""}, {"book_id": "b1", "to": "Ana"}, {"book_id": "b1", "days": "3"}]
)
def test_what_does_not_fit_plain_parameters_is_refused(sent: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match=r"book\.lend_out"):
        lend.parse(sent)
