"""The refusals of searching, each one a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable

from armarium.api import BadRequest, Invalid, missing

unknown_search = missing(
    "saved search", "List the saved searches to find the right id.", code="unknown_search"
)


def bad_word(field: str, word: str, known: Iterable[str]) -> BadRequest:
    """400: a word that the field does not know."""
    return BadRequest(
        f"{field} does not accept {word!r}. It accepts: {', '.join(known)}.", code="bad_word", field=field
    )


def too_many_words(count: int, most: int) -> Invalid:
    """422: more words than a query may contain."""
    return Invalid(
        f"A query has at most {most} words, phrases and scopes; this one has {count}. Search for less at "
        "once.",
        code="too_many_words",
    )


def only_excludes() -> Invalid:
    """422: nothing is searched for, only excluded."""
    return Invalid(
        "The query only says what to leave out. Add a word to search for besides what follows NOT.",
        code="only_excludes",
    )


def bad_date(value: str) -> Invalid:
    """422: not a date, interval or decade."""
    return Invalid(
        f"{value!r} is not a date to search by. Write a year, month or day (1832, 1832-05, 1832-05-17), a "
        "decade (183X), an interval (1832/1840, ../1840), or -0043 for the year 44 before Christ.",
        code="bad_date",
    )


def not_in_folder(search_id: str, folder_path: str) -> Invalid:
    """422: a saved search that is not in the folder that is being ordered."""
    return Invalid(
        f"There is no saved search {search_id} in {folder_path}. List the saved searches and name those of "
        "that folder.",
        code="not_in_folder",
        search_id=search_id,
    )


def named_twice(search_id: str) -> Invalid:
    """422: an order that names a saved search more than once."""
    return Invalid(f"{search_id} is named twice; name each saved search once.", code="named_twice")


def unknown_embedder(name: str, known: Iterable[str]) -> Invalid:
    """422: there is no embedder of that name."""
    return Invalid(
        f"There is no embedder {name!r}. Installed: {', '.join(known) or 'none'}.", code="unknown_embedder"
    )


def embedder_needs_provider(name: str) -> Invalid:
    """422: an embedder of a provider, without the provider."""
    return Invalid(
        f"The embedder {name} uses a model of a provider: name the provider in `provider`, and its model in "
        "`model`.",
        code="embedder_needs_provider",
    )


def name_without_folders(model: str) -> Invalid:
    """422: a model of this machine named by a path."""
    return Invalid(
        f"{model!r} is no name of a model. Name one of the models of this machine by its name alone, without folders.",
        code="not_a_model_name",
    )


def nothing_to_embed() -> Invalid:
    """422: no page of the project has text."""
    return Invalid(
        "No page has any text yet, so there is nothing to learn from. Read or transcribe some pages first.",
        code="nothing_to_embed",
    )
