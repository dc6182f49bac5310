"""The refusals of searching, each one a sentence that says what to do."""

from __future__ import annotations

from armarium.api import BadRequest, Invalid, missing

unknown_search = missing(
    "saved search", "List the saved searches to find the right id.", code="unknown_search"
)


bad_word = BadRequest.saying(
    "bad_word", "{field} does not accept {word!r}. It accepts: {known}.", field="field"
)
too_many_words = Invalid.saying(
    "too_many_words",
    "A query has at most {most} words, phrases and scopes; this one has {count}. Search for less at once.",
)
phrases_too_long = Invalid.saying(
    "phrases_too_long",
    "The phrases of a query have at most {most} words in all; these have {count}. Search for a shorter passage.",
)
no_such_page = Invalid.saying(
    "no_such_page",
    "{field} names no page that is searched here. Leave it out to start from the beginning.",
    field="field",
)
only_excludes = Invalid.saying(
    "only_excludes",
    "The query only says what to leave out. Add a word to search for besides what follows NOT.",
)
bad_date = Invalid.saying(
    "bad_date",
    "{value!r} is not a date to search by. Write a year, month or day (1832, 1832-05, 1832-05-17), a "
    "decade (183X), an interval (1832/1840, ../1840), or -0043 for the year 44 before Christ.",
)
ends_first = Invalid.saying("bad_date", "{value} ends before it begins; the earlier date comes first.")
from_after_to = Invalid.saying(
    "bad_date", "{field}_from ({first}) is after {field}_to ({last}); the earlier one comes first."
)
not_in_folder = Invalid.saying(
    "not_in_folder",
    "There is no saved search {search_id} in {folder_path}. List the saved searches and name those of that "
    "folder.",
    search_id="search_id",
)
named_twice = Invalid.saying("named_twice", "{search_id} is named twice; name each saved search once.")


unknown_embedder = Invalid.saying("unknown_embedder", "There is no embedder {name!r}. Installed: {known}.")
embedder_needs_provider = Invalid.saying(
    "embedder_needs_provider",
    "The embedder {name} uses a model of a provider: name the provider in `provider`, and its model in "
    "`model`.",
)
name_without_folders = Invalid.saying(
    "not_a_model_name",
    "{model!r} is not the name of a model. Name one of the models on this machine by its name alone, without "
    "folders.",
)
nothing_to_embed = Invalid.saying(
    "nothing_to_embed",
    "No page has any text yet, so there is nothing to learn from. Read or transcribe some pages first.",
)
