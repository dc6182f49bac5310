"""The settings of the recipe jobs of knowledge."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from armarium.api import MaterialPath, Message, Params
from armarium_knowledge.schemas.fields import AuthorityLink, DateValue, Id, Language, Word


class ModelSettings(Params):
    """Which model is asked, and whether pages may leave this machine for it."""

    provider: Annotated[str, Field(min_length=1, max_length=80)] | None = Field(
        default=None, description="The provider, by name or id."
    )
    model: Word | None = Field(default=None, description="One of its models; left out: its default.")
    pages_may_leave: bool = Field(
        default=False, description="Whether pages may be sent to a provider on another machine."
    )
    prompt: Annotated[str, Field(min_length=1, max_length=20_000)] | None = Field(
        default=None, description="Additional instructions for the model."
    )


class NameSettings(ModelSettings):
    """Names that a model finds or, if no provider is named, those that the project knows."""

    misread: bool = Field(
        default=False, description="Without a model: also names with one or two letters misread."
    )


class DateSettings(Params):
    """The language of the pages, and the calendar by which their years are counted."""

    language: Language | None = Field(
        default=None, description="A BCP 47 tag: decides which words and which order of day and month."
    )
    country: Word | None = Field(default=None, description="ISO 3166: which calendar was in force.")


class AuthoritySettings(Params):
    """The authority file, or the reconciliation service, that entities are linked to."""

    file: MaterialPath | None = Field(
        default=None,
        description="A file on this machine: CSV with columns uri and name, SKOS as RDF/XML, or an extract of Wikidata.",
    )
    service: Annotated[str, Field(min_length=8, max_length=2_000)] | None = Field(
        default=None,
        description="The address of a reconciliation service (W3C, 0.2) that is asked for the names instead.",
    )
    names_may_leave: bool = Field(
        default=False, description="Whether names may be sent to a service on another machine."
    )


class TakenDate(Params):
    entity_id: Id
    date: DateValue


class TakeDates(Params):
    """The dates worked out from a page's mentions."""

    document_id: Id
    dates: Annotated[list[TakenDate], Field(max_length=20_000)]


class TakenLink(Params):
    entity_id: Id
    link: AuthorityLink


class TakeLinks(Params):
    """The links to an authority file found for the entities of a page."""

    document_id: Id
    links: Annotated[list[TakenLink], Field(max_length=20_000)]


class Touched(Message):
    """The entities that were changed."""

    entity_ids: list[str]
