"""Read-only routes of providers; writes are the routes of actions. Owner only."""

from __future__ import annotations

from fastapi import Response

from armarium.api import REFUSALS, CurrentEngine, CurrentOwner, Router, json_response
from armarium_reading.providers.wire import GROUP
from armarium_reading.queries.providers import list_models, list_providers
from armarium_reading.schemas.providers import ProviderModels, Providers

router = Router(tags=["reading"])


@router.get(
    "/api/providers", summary="The providers of models.", response_model=Providers, responses=REFUSALS()
)
def get_providers(engine: CurrentEngine, _: CurrentOwner) -> Response:
    """Return the providers in order, each with whether it has a key, and the provider types with their names for a person."""
    with engine.state.read() as conn:
        providers = list_providers(conn)
    return json_response(
        {
            "items": providers,
            "count": len(providers),
            "types": engine.drivers.names(GROUP),
            "labels": {kind.name: kind.label for kind in engine.drivers.usable(GROUP)},
        }
    )


@router.get(
    "/api/providers/{provider_id}/models",
    summary="The models of a provider.",
    response_model=ProviderModels,
    responses=REFUSALS(404),
)
def get_provider_models(engine: CurrentEngine, provider_id: str, _: CurrentOwner) -> Response:
    """Return the models in order, with what they can do and cost."""
    with engine.state.read() as conn:
        models = list_models(conn, provider_id)
    return json_response({"items": models, "count": len(models)})
