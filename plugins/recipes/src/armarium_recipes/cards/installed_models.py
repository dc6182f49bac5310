"""Cards of models that were put on this machine by hand, and of models that a provider serves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from armarium.api import Engine
from armarium_reading.api import installed_readers, model_note, served_models
from armarium_recipes.cards.discovery import texts_of
from armarium_recipes.cards.shipped_cards import MATERIALS_OF, card_of_reader, models_of
from armarium_recipes.schemas.cards import Card

ASKED_WITH_PICTURES = ("read-a-line", "identify-signs")
TOKENS_IN, TOKENS_OUT = 1_500, 800
"""Tokens of a page that is sent and of its answer, for a first estimate of the cost."""

OPEN = (
    "apache",
    "mit",
    "cc0",
    "cc-by",
    "bsd",
    "gpl",
    "lgpl",
    "mpl",
    "isc",
    "unlicense",
    "openrail",
    "public",
)
CLOSED = ("-nc", "-nd", "noncommercial")


def is_open(licence: str | None) -> bool:
    """Return whether a licence lets anybody use and redistribute the model; False if no licence is stated."""
    spelling = (licence or "").lower().replace(" ", "-").replace("_", "-")
    return spelling.startswith(OPEN) and not any(part in spelling for part in CLOSED)


def installed_cards(engine: Engine) -> Iterator[Card]:
    """Return cards of readers' models in this machine's folder that are not covered by a trained card."""
    for reader in installed_readers(engine):
        if reader.why_not(None) is not None:
            continue
        for model in models_of(engine, reader):
            if model.shipped or model.path is None or model.path.with_suffix(".card.json").is_file():
                continue
            note = model_note(model.path)
            licence = note.get("licence") or None
            more: dict[str, Any] = {"licence": licence}
            if reader.name == "tesseract":
                more["licence"] = "Apache-2.0"
            if note.get("title"):
                more["name"] = str(note["title"])[:300]
            for field in ("languages", "scripts"):
                if note.get(field):
                    more[field] = texts_of(note[field])
            if isinstance(note.get("cer"), float):
                more["cer_of_authors"] = note["cer"]
            writing = texts_of(note.get("writing"))
            if material := [name for kind in writing for name in MATERIALS_OF.get(kind, ())]:
                more["material"] = material
            if note.get("source_id"):
                more["pin"] = {"repository": str(note["source_id"])}
            if (card := card_of_reader(reader, model, source="installed", **more)) is not None:
                yield card


def provider_cards(engine: Engine) -> Iterator[Card]:
    """Return cards of the models of providers that are set up: those with a key, and servers that need none."""
    jobs = [job for job in engine.recipe_jobs.values() if job.uses_llm]
    for served in served_models(engine):
        provider, model = served.provider, served.model
        can = set(model["capabilities"])
        able = [job.id for job in jobs if job.id not in ASKED_WITH_PICTURES and "text" in can]
        if "vision" in can:
            able += [job for job in ASKED_WITH_PICTURES if job in engine.recipe_jobs]
        if not able:
            continue
        place = place_of(served.api_base)
        runtime = "cloud" if place == "provider" else "local-server"
        source: Literal["cloud", "installed"] = "cloud" if place == "provider" else "installed"
        cost = _cost(model) if place == "provider" else 0.0
        yield Card.stating(
            id=f"{runtime}:{quote(provider['name'], safe=' ')}/{quote(model['model_id'], safe=' :.')}@served",
            name=f"{model['name']} ({provider['name']})",
            source=source,
            pin={"cloud": provider["name"], "model": model["model_id"]},
            jobs=able,
            material=["handwriting", "print", "typescript", "text"],
            memory_gb=0,
            runs_where=place,
            availability="elsewhere" if place != "this_mac" else "installed",
            availability_words=_WHERE[place].format(provider=provider["name"]),
            installed=place == "this_mac",
            cost_per_page=cost,
            model=model["model_id"],
            provider=provider["name"],
        )


_WHERE = {
    "this_mac": "{provider} serves it on this machine.",
    "own_machine": "{provider} serves it on a machine in your own network.",
    "provider": "{provider} runs it; pages leave this machine.",
}


def place_of(address: str | None) -> Literal["this_mac", "own_machine", "provider"]:
    """Return where *address* leads, by its spelling alone: no name is looked up, so a name of your own counts
    as elsewhere.
    """
    host = (urlsplit(address or "").hostname or "").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return "this_mac"
    try:
        number = ip_address(host)
    except ValueError:
        return "provider"
    if number.is_loopback:
        return "this_mac"
    return "own_machine" if number.is_private else "provider"


def _cost(model: Mapping[str, Any]) -> float | None:
    """Return US dollars a page, roughly; None if a price is unknown."""
    if model["input_cost"] is None or model["output_cost"] is None:
        return None
    cost: float = (model["input_cost"] * TOKENS_IN + model["output_cost"] * TOKENS_OUT) / 1e6
    return round(cost, 6)
