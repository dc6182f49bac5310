"""Requests and answers of providers and their models."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from armarium.api import Message, Params, Sent, SourceText, answer_of, listed
from armarium_reading.models import provider_models, providers

MAX_MODELS = 500
Capability = Literal["text", "vision", "thinking", "embedding"]
Id = Annotated[str, Field(min_length=1, max_length=64)]
Cost = Annotated[float, Field(ge=0, le=100_000)]
Place = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]


def check_name(name: str) -> str:
    """Return *name*; ValueError if it could be mistaken for another or contains a line break."""
    if name != name.strip() or not name.isprintable():
        raise ValueError("a name has no line breaks, and no space at either end")
    return name


def check_address(address: str) -> str:
    """Return *address* without a trailing slash; ValueError if paths cannot be appended to it."""
    if any(sign in address for sign in "?#") or not address.isprintable() or " " in address:
        raise ValueError("the address of a provider contains neither spaces nor ? or #")
    return address.rstrip("/")


def check_key(key: str) -> str:
    """Return *key*; ValueError, which does not repeat it, if it cannot be sent in a header."""
    if re.fullmatch(r"[!-~]+", key) is None:
        raise ValueError(
            "a key is one word of plain letters, digits and signs, without spaces and line breaks"
        )
    return key


Name = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(check_name)]
Address = Annotated[str, Field(min_length=8, max_length=500), AfterValidator(check_address)]


@answer_of(providers)
class Provider(Message):
    """A provider; its key is never part of an answer."""

    has_key: bool


class Providers(Message):
    """The providers in order."""

    items: list[Provider]
    count: int
    types: list[str]
    """The available provider types."""
    labels: dict[str, str]
    """What a person calls each type that loads."""


@answer_of(provider_models)
class ProviderModel(Message):
    """A model of a provider."""

    capabilities: list[Capability]


ProviderModels = listed(ProviderModel, "ProviderModels", "The models of a provider in order.")


class CreateProviderParams(Params):
    """A provider to add."""

    name: Name
    provider_type: str = Field(min_length=1, max_length=80)
    api_base: Address | None = None
    """Left out: the address of its type, if that has one."""
    enabled: bool = True
    sort_order: Place = 0


class UpdateProviderParams(Params):
    """What to change of a provider. A new address discards its key, which was meant for the old one."""

    provider_id: Id
    name: Name | None = None
    api_base: Address | None = None
    enabled: bool | None = None
    sort_order: Place | None = None


class ProviderParams(Params):
    """Names a provider."""

    provider_id: Id


class SetKeyParams(Params):
    """A key for a provider."""

    provider_id: Id
    key: Annotated[SourceText, Field(min_length=1, max_length=4096), AfterValidator(check_key)]


class ModelOfProvider(Sent):
    """One model in the list of a provider."""

    model_config = {"extra": "forbid"}

    name: Name
    model_id: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(check_name)]
    """The provider's name for it."""
    capabilities: list[Capability] = ["text"]
    is_default: bool = False
    enabled: bool = True
    sort_order: Place = 0
    input_cost: Cost | None = None
    output_cost: Cost | None = None


class SetModelsParams(Params):
    """All models of a provider: those that are not named are removed."""

    provider_id: Id
    models: list[ModelOfProvider] = Field(max_length=MAX_MODELS)

    @model_validator(mode="after")
    def _distinct(self) -> SetModelsParams:
        model_ids = [model.model_id for model in self.models]
        if twice := sorted({model_id for model_id in model_ids if model_ids.count(model_id) > 1}):
            raise ValueError(f"{', '.join(twice[:8])}: name each model once")
        if sum(model.is_default for model in self.models) > 1:
            raise ValueError("at most one model of a provider is its default")
        return self


class Removed(Message):
    """A provider, or its key, that was removed."""

    status: Literal["deleted"] = "deleted"
    id: str
