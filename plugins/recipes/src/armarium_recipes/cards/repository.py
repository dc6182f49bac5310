"""The public repository of line readers: recognition models of kraken's users on Zenodo, with their own
cards.

The listing is fetched at most daily; a record's card is fetched once, because a published version does not
change. One search fetches as many cards as the service allows a guest in a minute; later searches fetch the
rest.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from armarium.api import Engine, ServiceError
from armarium_reading.api import installed_readers, models_folder, runtime_folder
from armarium_recipes.cards import discovery
from armarium_recipes.cards.discovery import FoundCandidates, size_gb, text_of, texts_of
from armarium_recipes.cards.installed_models import is_open
from armarium_recipes.knowledge.languages import tags_of
from armarium_recipes.knowledge.scripts import find_script
from armarium_recipes.schemas.cards import Card, Download

ZENODO = "https://zenodo.org"
COMMUNITY = "ocr_models"
NAME = "linereader-repository"
PAGE = 25
"""Records on a page of results: the service's limit for guests."""
MOST_RECORDS = 1_000
CARDS_AT_A_TIME = 48
CARD_FILES = ("README.md", "metadata.json")
"""The card of a record: in the present schema, and in the previous one."""
SUFFIXES = (".safetensors", ".mlmodel")
LONGEST_HEADER = 64 << 10
_NUMBER = re.compile(r"[0-9]{1,15}")
"""The number of a record."""
_HEADER = re.compile(r"\A\ufeff?---\r?\n(.*?)\r?\n---\s*(?:\r?\n|\Z)", re.DOTALL)

_MATERIAL_WORDS = {
    "handwriting": re.compile(
        r"handwrit|manuscri|hand-?written|\bhands?\b|\bhtr\b|cursive|scribal|kurrent|charter", re.I
    ),
    "print": re.compile(r"\bprint|typeset|newspaper|incunab|fraktur|typograph", re.I),
    "typescript": re.compile(r"typewrit|typescript", re.I),
}


def repository_cards(engine: Engine) -> list[Card]:
    """Return the models of the listing as last cached; makes no request."""
    listing = discovery.read_kept(engine, NAME)
    return [] if listing is None else list(_cards(engine, listing.entries))


def search_repository(engine: Engine, *, online: bool, held: str | None = None) -> FoundCandidates:
    """Return the models of the repository: from the cached listing, or, with *online*, a new one if it is
    over a day old.
    """
    state, detail = _search(engine, online=online, held=held)
    return FoundCandidates(state, detail, repository_cards(engine))


def _search(engine: Engine, *, online: bool, held: str | None) -> tuple[discovery.State, str]:
    listing = discovery.read_kept(engine, NAME)
    if online and held:
        return "offline", f"{held}; {_describe_listing(listing)}."
    if not online and listing is None:
        return "not-searched", "Its models have not been listed yet; ask with online=true."
    fresh, looked = not online or (listing is not None and listing.is_fresh), 0
    if online:
        try:
            with discovery.Asking(engine) as asking:
                if listing is None or not fresh:
                    listing = discovery.keep(engine, NAME, _records(asking, listing), time.time())
                looked = _fetch_cards(engine, asking, listing)
        except ServiceError as refusal:
            return "failed", f"{refusal.detail} {_describe_listing(listing).capitalize()}."
    assert listing is not None
    if fresh and not looked:
        return "cached", f"As listed {_read_date(listing)}."
    unfetched = sum("card" not in entry for entry in listing.entries)
    unfetched_words = f"; later searches fetch {unfetched} more" if unfetched else ""
    return "searched", f"{len(listing.entries)} records are listed{unfetched_words}."


def _describe_listing(listing: discovery.KeptListing | None) -> str:
    return (
        "nothing was listed earlier" if listing is None else (f"the listing {_read_date(listing)} is shown")
    )


def _read_date(listing: discovery.KeptListing) -> str:
    return time.strftime("on %d %B %Y", time.gmtime(max(0.0, min(listing.fetched_at, 4e9))))


def _records(asking: discovery.Asking, before: discovery.KeptListing | None) -> list[dict[str, Any]]:
    """Return the newest version of each record of the community, with the cards already fetched."""
    earlier = before.entries if before is not None else []
    cards = {entry.get("record"): entry["card"] for entry in earlier if "card" in entry}
    newest: dict[str, dict[str, Any]] = {}
    for page in range(1, MOST_RECORDS // PAGE + 1):
        url = f"{ZENODO}/api/records?communities={COMMUNITY}&sort=newest&size={PAGE}&page={page}"
        answer = asking.fetch_json(url)
        hits = answer.get("hits") if isinstance(answer, dict) else None
        records = hits.get("hits") if isinstance(hits, dict) else None
        for hit in (records if isinstance(records, list) else [])[:PAGE]:
            entry = _entry(hit)
            if entry is None:
                continue
            newest_version = newest.get(entry["concept"])
            if newest_version is None or int(newest_version["record"]) < int(entry["record"]):
                newest[entry["concept"]] = entry
        total = hits.get("total") if isinstance(hits, dict) else None
        if not records or not isinstance(total, int) or page * PAGE >= total:
            break
    for entry in newest.values():
        if entry["record"] in cards:
            entry["card"] = cards[entry["record"]]
    return list(newest.values())


def _entry(hit: object) -> dict[str, Any] | None:
    """Return what is cached of a record; None if it is not a record, or has no model."""
    if not isinstance(hit, dict) or not isinstance(hit.get("metadata"), dict):
        return None
    about = hit["metadata"]
    record, concept = str(hit.get("id")), str(hit.get("conceptrecid") or hit.get("id"))
    listed = hit.get("files")
    files = [
        file
        for file in (listed if isinstance(listed, list) else [])
        if isinstance(file, dict) and isinstance(file.get("key"), str)
    ]
    weights = next((file for suffix in SUFFIXES for file in files if file["key"].endswith(suffix)), None)
    if not _NUMBER.fullmatch(record) or weights is None:
        return None
    licence = about.get("license")
    return {
        "record": record,
        "concept": concept[:40],
        "title": text_of(about.get("title")),
        "version": text_of(about.get("version"), 40) or record,
        "licence": text_of(licence.get("id") if isinstance(licence, dict) else licence, 80),
        "words": " ".join([text_of(about.get("title")), *texts_of(about.get("keywords"))]),
        "weights": f"zenodo-{record}.{weights['key'].rpartition('.')[2]}",
        "size_gb": size_gb(weights.get("size")),
        "about": next((name for name in CARD_FILES for file in files if file["key"] == name), None),
    }


def _fetch_cards(engine: Engine, asking: discovery.Asking, listing: discovery.KeptListing) -> int:
    """Fetch the next cards not yet fetched into *listing* and cache it; return their number."""
    for entry in listing.entries:
        if entry.get("about") not in CARD_FILES:
            entry["card"] = {}
    entries_by_url = {
        f"{ZENODO}/records/{entry['record']}/files/{entry['about']}?download=1": entry
        for entry in listing.entries
        if "card" not in entry and _NUMBER.fullmatch(str(entry.get("record")))
    }
    urls = list(entries_by_url)[:CARDS_AT_A_TIME]
    for url, body in asking.all_of(asking.fetch, urls).items():
        entries_by_url[url]["card"] = _card_of(entries_by_url[url]["about"], body)
    if urls:
        discovery.keep(engine, NAME, listing.entries, listing.fetched_at)
    return len(urls)


def _card_of(name: str, body: bytes) -> dict[str, Any]:
    """Return what a record's card says, in either schema; empty if it is not a card."""
    fields = _old_card(body) if name == "metadata.json" else _header(body)
    if fields is None:
        return {}
    metrics = fields.get("metrics")
    cer = metrics.get("cer", metrics.get("CER")) if isinstance(metrics, dict) else None
    return {
        "summary": text_of(fields.get("summary")),
        "licence": text_of(fields.get("license_name") or fields.get("license"), 80),
        "languages": texts_of(fields.get("language")),
        "scripts": texts_of(fields.get("script")),
        "types": texts_of(fields.get("model_type")),
        "software": text_of(fields.get("software_name"), 40),
        "tags": texts_of(fields.get("tags")),
        "cer": _share(cer),
    }


def _old_card(body: bytes) -> dict[str, Any] | None:
    """Parse a card in the first schema: of kraken's recognition models, with an accuracy in points."""
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(fields, dict):
        return None
    accuracy = fields.get("accuracy")
    is_number = isinstance(accuracy, int | float) and not isinstance(accuracy, bool)
    cer = (100 - float(accuracy)) / 100 if is_number else None  # type: ignore[arg-type]
    return {**fields, "metrics": {"cer": cer}, "model_type": ["recognition"], "software_name": "kraken"}


def _header(body: bytes) -> dict[str, Any] | None:
    """Return the YAML at the head of a card; None if there is none, or if it has aliases, which no card needs."""
    import yaml

    match = _HEADER.match(body[: LONGEST_HEADER + 16].decode("utf-8", "replace"))
    if match is None:
        return None
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(match[1], yaml.SafeLoader)):
            return None
        fields = yaml.load(match[1], yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _share(cer: object) -> float | None:
    """Return a CER between 0 and 1; a value over 1 is in points. None if it is not a CER."""
    if not isinstance(cer, int | float) or isinstance(cer, bool) or not 0 <= cer <= 100:
        return None
    return float(cer) if cer <= 1 else float(cer) / 100


def _cards(engine: Engine, entries: Iterable[Mapping[str, Any]]) -> Iterable[Card]:
    """Return the recognition models among *entries*. A cached file is validated again, because a person may
    have edited it.
    """
    reader = next((reader for reader in installed_readers(engine) if reader.model_kind == "linereader"), None)
    runs = reader is not None and (reader.runtime is None or runtime_folder(engine, reader) is not None)
    folder = models_folder(engine, "linereader")
    for entry in entries:
        card = entry.get("card")
        record = str(entry.get("record"))
        if (
            not isinstance(card, dict)
            or not _NUMBER.fullmatch(record)
            or "recognition" not in texts_of(card.get("types"))
        ):
            continue
        weights = f"zenodo-{record}.{text_of(entry.get('weights')).rpartition('.')[2]}"
        if not weights.endswith(SUFFIXES):
            continue
        doi = f"10.5281/zenodo.{record}"
        is_here = (folder / weights).is_file()
        software = text_of(card.get("software"), 40).lower()
        material = _materials(
            f"{entry.get('words')} {card.get('summary')} {' '.join(texts_of(card.get('tags')))}"
        )
        licence = text_of(card.get("licence"), 80) or text_of(entry.get("licence"), 80)
        availability, words = _availability(is_here, runs, software)
        cer, size = card.get("cer"), entry.get("size_gb")
        yield Card.stating(
            id=f"linereader:{doi}@{text_of(entry.get('version'), 40) or '1'}",
            name=text_of(entry.get("title")) or doi,
            source="linereader-repository",
            pin={"repository": doi},
            jobs=["read-a-line", "read-a-page"],
            material=material,
            scripts=[script.code for text in texts_of(card.get("scripts")) if (script := find_script(text))],
            languages=tags_of(texts_of(card.get("languages"))),
            licence=licence or None,
            open_licence=is_open(licence),
            size_gb=float(size) if isinstance(size, int | float) else 0,
            memory_gb=1.5,
            availability=availability,
            availability_words=words,
            installed=is_here and runs,
            download=None if is_here or not runs else Download(runtime="linereader", id=doi),
            in_recipe_rules=bool(material),
            offered_because="It is published in the line readers' repository.",
            cer_published=cer if isinstance(cer, float) else None,
            note=None if material else "Its record does not say whether it reads handwriting or print.",
            reader="kraken",
            model=weights,
        )


def _availability(is_here: bool, runs: bool, software: str) -> tuple[Any, str]:
    if software not in ("", "kraken"):
        return "not_here", f"It is a model of {software}, which this engine does not run."
    if not runs:
        return (
            "not_here",
            "It needs the runtime kraken, which is not installed (armarium runtime install kraken).",
        )
    if is_here:
        return "installed", "It is on this machine."
    return "download", "It is downloaded from Zenodo when it is first needed."


def _materials(words: str) -> list[str]:
    return [material for material, pattern in _MATERIAL_WORDS.items() if pattern.search(words)]
