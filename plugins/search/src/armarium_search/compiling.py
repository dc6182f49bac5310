"""Has a model turn a sentence into a query and filters, if the caller requests it and may do so."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from armarium.api import Engine, Library, Principal, ServiceError
from armarium_documents.api import with_flags
from armarium_reading.api import Caller, ModelRequest, Subject, ask, placed_with_provider, served_models
from armarium_search.contributions import scopes_of
from armarium_search.language import parse
from armarium_search.queries.dates_asked import require_span
from armarium_search.schemas import Day, Filters, SearchParams
from armarium_search.vectors.served import embed_query

USE_CASE = "compile-a-search"
SECONDS = 30.0
"""How long a search waits for the model."""
SYSTEM = "You turn what a historian asks into a query of a search engine for the pages of an archive."
PROMPT = (
    "Write the query for what is asked below, and filters only where it plainly states them. The query holds few words, in "
    "the language in which they were asked, as they would stand on the page: words (all must be there), "
    '"phrases", a beginning as plat*, NOT before what is to be left out, and the scopes {scopes}, each before a word or a '
    '"phrase". Leave out words such as find, letters about, or who wrote.'
)
VIEWERS = "A viewer may not use a model, so the words were searched as written. Ask an editor to search."
NO_MODEL = (
    "No model may be used to turn the sentence into a query, so the words were searched as written. Add a "
    "provider on this machine, or name one in `provider` and allow the sentence to be sent with "
    "`pages_may_leave`."
)


@with_flags(None)
class Sentence(BaseModel):
    """What the model answers: a query, and the filters that a sentence states."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=1_000)]
    date_from: Day | None = None
    date_to: Day | None = None
    languages: Annotated[list[Annotated[str, Field(max_length=35)]], Field(max_length=20)] = []


class CompiledQuery(SearchParams):
    """What is searched, with what was written, the query that a model wrote, or why the words are searched as
    written.
    """

    written: str
    of_model: str | None = None
    error: str | None = None


def compile_first(
    library: Library, engine: Engine, principal: Principal, params: SearchParams
) -> dict[str, SearchParams]:
    """Return *params* as a model understands their sentence, if they request that; a model may take up to
    `SECONDS`, so the project is not read meanwhile.
    """
    if not params.compile or not params.query.strip():
        return {}
    query, filters, error = _ask_model(library, engine, principal, params)
    fields = {name: getattr(params, name) for name in SearchParams.model_fields}
    if query is not None:
        fields |= {"query": query, "filters": filters}
    return {"params": CompiledQuery(**fields, written=params.query, of_model=query, error=error)}


def prepare_query(
    library: Library, engine: Engine, principal: Principal, params: SearchParams
) -> dict[str, SearchParams]:
    """Ask models what is needed before the project is read: a query for a sentence, and a vector for the query."""
    search = compile_first(library, engine, principal, params).get("params", params)
    embed_query(library, engine, principal, search)
    return {"params": search}


def _ask_model(
    library: Library, engine: Engine, principal: Principal, params: SearchParams
) -> tuple[str | None, Filters | None, str | None]:
    """Return a model's query and filters, or why there is none; a filter from the caller overrides the model's."""
    if principal.role == "viewer":
        return None, None, VIEWERS
    try:
        provider, model = _choose_provider(engine, params)
        if provider is None:
            return None, None, NO_MODEL
        request = ModelRequest(
            provider=provider,
            model=model,
            prompt=PROMPT.format(scopes=_list_scopes(engine)),
            system=SYSTEM,
            material=params.query,
            subject=Subject(library.uuid, kind="project"),
            use_case=USE_CASE,
            pages_may_leave=params.pages_may_leave,
            seconds=SECONDS,
        )
        sentence = ask(Caller(engine, library, principal), request, Sentence).answer
        _check(sentence, scopes_of(engine))
    except ServiceError as refusal:
        return None, None, f"{refusal.detail} The words were searched as written."
    of_model = sentence.model_dump(exclude={"query"}, exclude_defaults=True)
    filters = params.filters.model_dump(exclude_unset=True) if params.filters else {}
    return sentence.query, Filters(**{**of_model, **filters}) if of_model or filters else None, None


def _list_scopes(engine: Engine) -> str:
    """Return the scopes as the prompt names them, each once, with what may stand after it."""
    examples = {
        name: next((scope.example for scope in several if scope.example), "")
        for name, several in scopes_of(engine).items()
    }
    return ", ".join(f"{name}:" + (f" ({example})" if example else "") for name, example in examples.items())


def _check(sentence: Sentence, scopes: Collection[str]) -> None:
    """Raise the refusal that the search itself would give for the model's query and filters."""
    for scoped in parse(sentence.query, scopes).scopes:
        if scoped.scope == "dates":
            require_span(scoped.text)
    for day in (sentence.date_from, sentence.date_to):
        if day is not None:
            require_span(day)


def _choose_provider(engine: Engine, params: SearchParams) -> tuple[str | None, str | None]:
    """Return the named provider, else the first one whose model may be asked with what is allowed."""
    if params.provider is not None:
        return params.provider, params.model
    for served in served_models(engine):
        name, model = str(served.provider["name"]), str(served.model["model_id"])
        if "text" in served.model["capabilities"]:
            try:
                placed_with_provider(engine, name, model, pages_may_leave=params.pages_may_leave)
            except ServiceError:
                continue
            return name, model
    return None, None
