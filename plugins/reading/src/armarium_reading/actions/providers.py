"""The engine-wide writes of providers, their models and keys: only the owner may make them, and they cannot
be undone.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from armarium.api import ActionContext, Egress, Forbidden, Route, action, new_id
from armarium_reading import errors
from armarium_reading.models import provider_models, providers
from armarium_reading.providers import keys
from armarium_reading.providers.registry import provider_type
from armarium_reading.queries.providers import list_models, provider_answer, require_provider
from armarium_reading.readers import GROUP as READERS
from armarium_reading.schemas.providers import (
    CreateProviderParams,
    Provider,
    ProviderModels,
    ProviderParams,
    Removed,
    SetKeyParams,
    SetModelsParams,
    UpdateProviderParams,
)

TAKEN_NAMES = frozenset({"user", "builtin", "linereader", "pdf-text-layer"})
"""Makers of readings that are not providers: no provider may have such a name, or their readings would pass
for its own.
"""


def _refuse_name(ctx: ActionContext, name: str, but: str | None = None) -> None:
    if name.casefold() in TAKEN_NAMES or name.casefold() in ctx.engine.drivers.names(READERS):
        raise errors.name_of_a_reader(name)
    same_name = select(providers.c.id).where(providers.c.name == name, providers.c.id != (but or ""))
    if ctx.conn.execute(same_name).first() is not None:
        raise errors.name_taken(name)


def _address(ctx: ActionContext, type_name: str, api_base: str | None) -> str:
    """Return the provider's address; Invalid if neither it nor its type states one, Forbidden or BadRequest
    for a bad one.
    """
    address = api_base or provider_type(ctx.engine, type_name).api_base
    if address is None:
        raise errors.address_needed(provider_type(ctx.engine, type_name).label)
    egress = Egress(local_only=False)
    egress.check_url(address, "network", literal=False)
    try:
        egress.check_url(address, "machine")
    except Forbidden:
        # The host is not this machine, so it is somewhere on a network, or cannot be reached by a request.
        try:
            egress.check_url(address, "network")
        except Forbidden as refusal:
            raise errors.address_out_of_reach("The address stated for the provider") from refusal
    return address


def _answer(ctx: ActionContext, provider_id: str) -> dict[str, Any]:
    ctx.target(provider_id)
    return provider_answer(require_provider(ctx.conn, provider_id))


def _drop_key(ctx: ActionContext, row: Row[Any]) -> None:
    """Remove the key from the row; the secret is deleted once that is on disk."""
    name = row.key_name
    if name is not None:
        ctx.conn.execute(update(providers).where(providers.c.id == row.id).values(key_name=None))
        ctx.on_commit(lambda: keys.forget(ctx.engine, name))


@action(
    "provider.create",
    result=Provider,
    summary="Add a provider of models",
    route=Route("POST", "/api/providers", refusals=(404, 409)),
    scope="engine",
    role="owner",
    undoable=False,
)
def create_provider(ctx: ActionContext, p: CreateProviderParams) -> dict[str, Any]:
    """Add it without a key or models. 404 for a type that is not installed, 409 for a name that is taken."""
    _refuse_name(ctx, p.name)
    _address(ctx, p.provider_type, p.api_base)
    row = {"id": new_id(), "key_name": None, **p.model_dump()}
    ctx.conn.execute(insert(providers).values(**row))
    return _answer(ctx, row["id"])


@action(
    "provider.update",
    result=Provider,
    summary="Change a provider; another address discards its key",
    route=Route("PATCH", "/api/providers/{provider_id}"),
    scope="engine",
    role="owner",
    undoable=False,
)
def update_provider(ctx: ActionContext, p: UpdateProviderParams) -> dict[str, Any]:
    """Change the fields that are sent. `api_base` null: use the default address of its type."""
    row = require_provider(ctx.conn, p.provider_id)
    changes = p.dump_changes("provider_id")
    if not changes or any(changes.get(name, "") is None for name in ("name", "enabled", "sort_order")):
        raise errors.nothing_to_change()
    if "name" in changes:
        _refuse_name(ctx, changes["name"], row.id)
    if "api_base" in changes:
        former = row.api_base or provider_type(ctx.engine, row.provider_type).api_base
        if _address(ctx, row.provider_type, changes["api_base"]) != former:
            _drop_key(ctx, row)
    ctx.conn.execute(update(providers).where(providers.c.id == row.id).values(**changes))
    return _answer(ctx, row.id)


@action(
    "provider.delete",
    result=Removed,
    summary="Remove a provider with its models and its key",
    route=Route("DELETE", "/api/providers/{provider_id}", refusals=(404,), answer="RemovedProvider"),
    scope="engine",
    role="owner",
    undoable=False,
)
def delete_provider(ctx: ActionContext, p: ProviderParams) -> dict[str, Any]:
    """Remove it. Readings its models made remain, and so does the ledger of its calls."""
    row = require_provider(ctx.conn, p.provider_id)
    _drop_key(ctx, row)
    ctx.conn.execute(delete(provider_models).where(provider_models.c.provider_id == row.id))
    ctx.conn.execute(delete(providers).where(providers.c.id == row.id))
    ctx.target(row.id)
    return {"status": "deleted", "id": row.id}


@action(
    "provider.set_models",
    result=ProviderModels,
    summary="Set the list of a provider's models",
    route=Route("PUT", "/api/providers/{provider_id}/models", refusals=(404,)),
    scope="engine",
    role="owner",
    undoable=False,
)
def set_models(ctx: ActionContext, p: SetModelsParams) -> dict[str, Any]:
    """Replace the list: a model already in it keeps its id, one that is not named is removed."""
    row = require_provider(ctx.conn, p.provider_id)
    before = {model["model_id"]: model["id"] for model in list_models(ctx.conn, row.id)}
    ctx.conn.execute(delete(provider_models).where(provider_models.c.provider_id == row.id))
    if p.models:
        ctx.conn.execute(
            insert(provider_models),
            [
                {"id": before.get(model.model_id) or new_id(), "provider_id": row.id, **model.model_dump()}
                for model in p.models
            ],
        )
    ctx.target(row.id)
    models = list_models(ctx.conn, row.id)
    return {"items": models, "count": len(models)}


@action(
    "provider.set_key",
    result=Provider,
    summary="Set the key of a provider",
    route=Route("PUT", "/api/providers/{provider_id}/key", refusals=(404,)),
    scope="engine",
    role="owner",
    person_only=True,
    undoable=False,
)
def set_key(ctx: ActionContext, p: SetKeyParams) -> dict[str, Any]:
    """Replace the key; no answer ever contains it."""
    row = require_provider(ctx.conn, p.provider_id)
    _drop_key(ctx, row)
    name = keys.keep(ctx.engine, p.key)
    ctx.conn.execute(update(providers).where(providers.c.id == row.id).values(key_name=name))
    return _answer(ctx, row.id)


@action(
    "provider.delete_key",
    result=Removed,
    summary="Remove the key of a provider",
    route=Route("DELETE", "/api/providers/{provider_id}/key", refusals=(404,), answer="RemovedProviderKey"),
    scope="engine",
    role="owner",
    undoable=False,
)
def delete_key(ctx: ActionContext, p: ProviderParams) -> dict[str, Any]:
    """Remove the key; a provider without one is left as it is, without an error."""
    row = require_provider(ctx.conn, p.provider_id)
    _drop_key(ctx, row)
    return {"status": "deleted", "id": row.id}
