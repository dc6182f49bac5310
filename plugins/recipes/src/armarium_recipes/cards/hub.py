"""The model hub: models that read pictures, found by task and language and by name. They are shown but never
chosen by the rules, because a model outside the catalogue cannot be downloaded from here yet.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from armarium.api import Engine, ServiceError
from armarium_reading.api import installed_readers, runtime_folder
from armarium_recipes.cards import discovery
from armarium_recipes.cards.discovery import FoundCandidates, text_of, texts_of
from armarium_recipes.cards.installed_models import is_open
from armarium_recipes.cards.shipped_cards import models_of
from armarium_recipes.knowledge.languages import find_language, tags_of
from armarium_recipes.schemas.cards import Card

HUB = "https://huggingface.co"
TASKS = ("image-to-text", "image-text-to-text")
WORDS = ("handwritten", "handwriting", "htr", "trocr")
"""Words in the names of models that read handwriting."""
OF_A_QUESTION = 50
"""How many models are looked at for one question."""
MOST_LANGUAGES = 6
_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
LISTING = "model-hub-"
"""The prefix of the names of its cached listings."""
OUTSIDE = "It is outside the catalogue and cannot be downloaded from here yet."


def _of_earlier(cards: Sequence[Card]) -> str:
    return f"{len(cards)} models found earlier are shown" if cards else "nothing was found earlier"


def search_hub(
    engine: Engine, languages: Sequence[str], *, online: bool, held: str | None = None
) -> FoundCandidates:
    """Return the hub's models for *languages*: those last listed for them, or, with *online*, a new listing
    after a day.
    """
    tags = sorted({tag.split("-")[0].lower() for tag in languages})[:MOST_LANGUAGES]
    name = f"{LISTING}{hashlib.sha256(' '.join(tags).encode()).hexdigest()[:16]}"
    listing = discovery.read_kept(engine, name)
    cards = [] if listing is None else list(_cards(engine, listing.entries))
    if online and held:
        return FoundCandidates("offline", f"{held}; {_of_earlier(cards)}.", cards)
    if not online and listing is None:
        return FoundCandidates(
            "not-searched", "It has not been searched for these languages yet; ask with online=true."
        )
    if listing is not None and (not online or listing.is_fresh):
        return FoundCandidates("cached", f"{len(cards)} models, as they were last found.", cards)
    try:
        entries = _search(engine, tags)
    except ServiceError as refusal:
        return FoundCandidates("failed", f"{refusal.detail} {_of_earlier(cards).capitalize()}.", cards)
    listing = discovery.keep(engine, name, entries, time.time())
    cards = list(_cards(engine, listing.entries))
    return FoundCandidates("searched", f"{len(cards)} models read pictures in these languages.", cards)


def kept_cards(engine: Engine, card_ids: Collection[str]) -> list[Card]:
    """Return those of the cards *card_ids* that were found on the hub earlier, for any languages. Makes no
    request.
    """
    cards: dict[str, Card] = {}
    for name in discovery.kept_names(engine, LISTING):
        listing = discovery.read_kept(engine, name)
        for card in _cards(engine, listing.entries) if listing is not None else ():
            if card.id in card_ids:
                cards.setdefault(card.id, card)
    return list(cards.values())


def _search(engine: Engine, tags: Sequence[str]) -> list[dict[str, Any]]:
    """Return the hub's models by task and language, then by name. If the first question is refused, so is the
    search.
    """
    questions = [{"pipeline_tag": task, "filter": tag} for tag in tags for task in TASKS]
    names = [language.name for tag in tags if (language := find_language(tag)) is not None]
    questions += [{"search": word} for word in WORDS]
    questions += [{"search": f"{word} {name.lower()}"} for name in names for word in WORDS[:1]]
    urls = [
        f"{HUB}/api/models?{urlencode({**question, 'limit': OF_A_QUESTION, 'sort': 'downloads', 'direction': -1, 'full': 'true'})}"
        for question in questions
    ]
    with discovery.Asking(engine) as asking:
        answers = {urls[0]: asking.fetch_json(urls[0])}
        answers |= asking.all_of(asking.fetch_json, urls[1:])
    entries: dict[str, dict[str, Any]] = {}
    for url in urls:
        models = answers.get(url)
        for model in (models if isinstance(models, list) else [])[:OF_A_QUESTION]:
            entry = _entry(model)
            if entry is not None:
                entries.setdefault(entry["id"], entry)
    return list(entries.values())


def _entry(model: object) -> dict[str, Any] | None:
    """Return what is cached of a model; None if it is not a model, reads no pictures, or is a GGUF build."""
    if not isinstance(model, dict):
        return None
    name = model.get("id") or model.get("modelId")
    if not isinstance(name, str) or not _ID.fullmatch(name) or ".." in name:
        return None
    tags = texts_of(model.get("tags"), 200)
    siblings = model.get("siblings")
    files = [
        text_of(sibling.get("rfilename"), 200)
        for sibling in (siblings if isinstance(siblings, list) else [])[:500]
        if isinstance(sibling, dict)
    ]
    library = text_of(model.get("library_name"), 40).lower()
    is_gguf = "gguf" in (library, *map(str.lower, tags)) or any(
        file.lower().endswith(".gguf") for file in files
    )
    if is_gguf or "gguf" in name.lower() or model.get("pipeline_tag") not in TASKS:
        return None
    data = model.get("cardData")
    languages = texts_of(data.get("language")) if isinstance(data, dict) else []
    tagged = [tag for tag in tags if re.fullmatch("[a-z]{2,3}", tag) and find_language(tag) is not None]
    return {
        "id": name,
        "revision": text_of(model.get("sha"), 40),
        "library": library,
        "licence": next((tag[8:] for tag in tags if tag.startswith("license:")), ""),
        "languages": languages or tagged,
        "base": next((tag.rpartition(":")[2] for tag in tags if tag.startswith("base_model:")), ""),
        "safetensors": "safetensors" in tags or any(file.endswith(".safetensors") for file in files),
        "gated": bool(model.get("gated")),
    }


def _cards(engine: Engine, entries: Sequence[Mapping[str, Any]]) -> Iterator[Card]:
    vision = next((reader for reader in installed_readers(engine) if reader.model_kind == "vision"), None)
    runs = vision is not None and (vision.runtime is None or runtime_folder(engine, vision) is not None)
    here = {model.model for model in models_of(engine, vision)} if vision is not None else set()
    for entry in entries:
        name = entry.get("id")
        if not isinstance(name, str) or not _ID.fullmatch(name) or ".." in name:
            continue
        availability, words = _availability(entry, runs)
        folder = name.rpartition("/")[2]
        is_here = availability == "elsewhere" and folder in here
        if is_here:
            availability, words = (
                "installed",
                f"It is on this machine, among the models in vision, as {folder}.",
            )
        base = text_of(entry.get("base"), 200)
        licence = text_of(entry.get("licence"), 80)
        revision = text_of(entry.get("revision"), 40) or "main"
        yield Card.stating(
            id=f"{'mlx' if entry.get('library') == 'mlx' else 'vision'}:{name}@{revision[:12]}",
            name=name,
            source="model-hub",
            pin={"hub": name, "revision": revision},
            jobs=["read-a-line"],
            languages=tags_of(texts_of(entry.get("languages"))),
            licence=licence or None,
            open_licence=is_open(licence),
            memory_gb=4,
            availability=availability,
            availability_words=words,
            installed=is_here,
            reader=vision.name if is_here and vision is not None else None,
            model=folder if is_here else None,
            in_recipe_rules=False,
            offered_because="It was found on the model hub.",
            note=f"{OUTSIDE}{f' Made from {base}.' if base else ''}",
        )


def _availability(entry: Mapping[str, Any], runs: bool) -> tuple[Any, str]:
    if entry.get("library") == "mlx":
        return "not_here", "It is a build for MLX, which this engine does not run."
    if entry.get("gated"):
        return "not_here", "Its maker provides it on request only."
    if not entry.get("safetensors"):
        return "not_here", ("It has no weights in the format safetensors, and other formats are not loaded.")
    if not runs:
        return (
            "not_here",
            "It needs the runtime vision, which is not installed (armarium runtime install vision).",
        )
    folder = str(entry.get("id")).rpartition("/")[2]
    return (
        "elsewhere",
        f"It is on the hub; to use it, put its folder among the engine's models, in vision, as {folder}.",
    )
