"""Reads a foreign manifest (Presentation 2 and 3) into the canvases it references; nothing is fetched here.

Every value may be missing or of the wrong type. What cannot be used is left out and counted in the notes;
only bytes that are not a manifest, or one without canvases, are refused. Ranges are never followed, so none
can form a cycle.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import orjson

from armarium_formats.api import parse_unsigned
from armarium_iiif.errors import MAX_CANVASES, ManifestTooLarge, NotAManifest, TooManyCanvases
from armarium_iiif.manifest_notes import count_sentences
from armarium_iiif.texts import as_list, id_of, plain_text, type_of
from armarium_iiif.transcriptions import AnnotatedText, read_transcription

Json = dict[str, Any]

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_VALUES: Final = 2_500_000
"""Values of a manifest: each becomes an object in memory, of which 25,000 canvases need about a million and a half."""

MAX_SIDE: Final = 1_000_000
"""Pixels on a side of a canvas that are believed."""

MAX_ADDRESS: Final = 4000
MAX_PAIRS: Final = 100


@dataclass(slots=True)
class ReferencedCanvas:
    """One canvas: its name, its size, and the address of its picture."""

    label: str
    canvas_id: str | None = None
    width: int | None = None
    height: int | None = None
    image: str | None = None
    format: str | None = None
    image_width: int | None = None
    image_height: int | None = None
    service: str | None = None
    service_version: int | None = None
    service_level: int | None = None
    texts: list[AnnotatedText] = field(default_factory=list)
    """What the manifest says itself of the text on it."""


@dataclass(slots=True)
class ReferencedManifest:
    """A manifest, as far as it is stored."""

    version: int
    label: str
    manifest_id: str | None
    canvases: list[ReferencedCanvas]
    described: dict[str, str] = field(default_factory=dict)
    direction: Literal["ltr", "rtl", "ttb"] | None = None
    notes: list[str] = field(default_factory=list)


def read_manifest(data: bytes, name: str) -> ReferencedManifest:
    """Read the manifest *data*; *name* is for refusals. ManifestTooLarge, NotAManifest, TooManyCanvases."""
    return _Reader(name).read(data)


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.counted: Counter[str] = Counter()

    def read(self, data: bytes) -> ReferencedManifest:
        manifest = self._parse_json(data)
        version, canvases = self._canvases_of(manifest)
        if len(canvases) > MAX_CANVASES:
            raise TooManyCanvases(self.name, len(canvases))
        canvas_ids: set[str] = set()
        read = []
        for number, value in enumerate(canvases, 1):
            canvas = self._canvas(value, number, version)
            if canvas is None:
                continue
            if canvas.canvas_id is not None:
                if canvas.canvas_id in canvas_ids:
                    self.counted["same-id"] += 1
                    continue
                canvas_ids.add(canvas.canvas_id)
            read.append(canvas)
        if not read:
            raise NotAManifest(self.name, "it has no canvas.")
        ranges = manifest.get("structures")
        self.counted["range"] += len(ranges) if isinstance(ranges, list) else 0
        self.counted["rendering"] += len(as_list(manifest.get("rendering")))
        self.counted["annotations-elsewhere"] += len(as_list(manifest.get("annotations")))
        return ReferencedManifest(
            version=version,
            label=plain_text(manifest.get("label")),
            manifest_id=self._address(id_of(manifest)),
            canvases=read,
            described=_describe_manifest(manifest),
            direction=_direction(manifest, version),
            notes=count_sentences(self.counted),
        )  # fmt: skip

    def _parse_json(self, data: bytes) -> Json:
        if len(data) > MAX_BYTES:
            raise ManifestTooLarge(self.name, MAX_BYTES)
        text = data.removeprefix(b"\xef\xbb\xbf").strip()
        if not text:
            raise NotAManifest(self.name, "it is empty.")
        if sum(text.count(sign) for sign in (b",", b"[", b"{")) > MAX_VALUES:
            raise NotAManifest(
                self.name, f"it has more than {MAX_VALUES} values, far more than any manifest of pages."
            )
        try:
            parsed = orjson.loads(text)
        except orjson.JSONDecodeError as fault:
            raise NotAManifest(self.name, f"it is not JSON ({fault.msg}, line {fault.lineno}).") from None
        if not isinstance(parsed, dict):
            raise NotAManifest(self.name, "it is JSON, but not an object.")
        return parsed

    def _canvases_of(self, manifest: Json) -> tuple[int, list[Any]]:
        kind = type_of(manifest)
        if kind == "Manifest":
            items = manifest.get("items")
            if isinstance(items, list):
                return 3, items
            raise NotAManifest(
                self.name, "it declares itself a Manifest of Presentation 3, but has no list `items`."
            )
        if kind == "sc:Manifest":
            sequences = [
                sequence for sequence in as_list(manifest.get("sequences")) if isinstance(sequence, dict)
            ]
            if not sequences:
                raise NotAManifest(
                    self.name, "it declares itself a sc:Manifest (Presentation 2), but has no sequence."
                )
            self.counted["sequence"] += len(sequences) - 1
            return 2, as_list(sequences[0].get("canvases"))
        if kind in ("Collection", "sc:Collection"):
            members = [
                member for key in ("items", "manifests", "members") for member in as_list(manifest.get(key))
            ]
            ids = [self._address(id_of(member)) for member in members[:200]]
            raise NotAManifest(
                self.name,
                "it is a collection of manifests. Import it by its address, or the manifests it names one by one.",
                manifests=[address for address in ids if address][:100],
            )
        description = f"its type is {kind[:60]!r}" if isinstance(kind, str) else "it has no type"
        raise NotAManifest(
            self.name, f"{description}, where Manifest (Presentation 3) or sc:Manifest (2) was expected."
        )

    def _canvas(self, value: Any, number: int, version: int) -> ReferencedCanvas | None:
        if not isinstance(value, dict) or type_of(value) not in (None, "Canvas", "sc:Canvas"):
            self.counted["not-a-canvas"] += 1
            return None
        canvas = ReferencedCanvas(label=plain_text(value.get("label")) or f"Page {number}")
        canvas.canvas_id = self._address(id_of(value))
        if canvas.canvas_id is not None and "#" in canvas.canvas_id:
            canvas.canvas_id = None  # a fragment is how parts of a canvas are named
        if canvas.canvas_id is None:
            self.counted["no-canvas-id"] += 1
        canvas.width, canvas.height = _size(value)
        if canvas.width is None:
            self.counted["no-size"] += 1
        bodies = list(_painted_3(value, self.counted) if version == 3 else _painted_2(value, self.counted))
        if len(bodies) > 1:
            self.counted["several-pictures"] += 1
        if bodies:
            self._picture(canvas, bodies[0])
        if canvas.image is None and canvas.service is None:
            self.counted["no-picture"] += 1
        size = (canvas.width, canvas.height) if canvas.width and canvas.height else None
        canvas.texts = read_transcription(value, size, self.counted)
        return canvas

    def _picture(self, canvas: ReferencedCanvas, body: Json) -> None:
        canvas.image = self._address(id_of(body))
        media = body.get("format")
        canvas.format = (
            media if isinstance(media, str) and media.startswith("image/") and len(media) < 60 else None
        )
        canvas.image_width, canvas.image_height = _size(body)
        for service in as_list(body.get("service"))[:20]:
            version = _service_version(service)
            if version is None:
                continue
            address = self._address(id_of(service))
            if address is not None:
                canvas.service = address.rstrip("/").removesuffix("/info.json")
                canvas.service_version = version
                canvas.service_level = _service_level(service)
                break

    def _address(self, value: Any) -> str | None:
        """Return *value* if it is a plain web address: http or https, a host, no credentials, no spaces."""
        if value is None:
            return None
        address = web_address(value)
        if address is None:
            self.counted["address"] += 1
        return address


def web_address(value: Any) -> str | None:
    """Return *value* if it is a plain web address (http or https, a host, no credentials, no spaces), else None."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_ADDRESS:
        return None
    if any(letter <= " " or letter in '"<>\\^`{|}\x7f' or letter.isspace() for letter in value):
        return None
    try:
        parts = urlsplit(value)
        _ = parts.port
        value.encode()
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or parts.username is not None:
        return None
    return value


def _size(value: Json) -> tuple[int, int] | tuple[None, None]:
    sides = []
    for name in ("width", "height"):
        side = value.get(name)
        if isinstance(side, str):
            side = parse_unsigned(side)
        if isinstance(side, bool) or not isinstance(side, int | float) or not math.isfinite(side):
            return None, None
        if not 1 <= side <= MAX_SIDE:
            return None, None
        sides.append(round(side))
    return sides[0], sides[1]


def _painted_3(canvas: Json, counted: Counter[str]) -> Iterator[Json]:
    """Return the pictures painted on a canvas of Presentation 3; the first of a choice."""
    for page in as_list(canvas.get("items"))[:50]:
        if not isinstance(page, dict):
            continue
        for annotation in as_list(page.get("items"))[:200]:
            if not isinstance(annotation, dict) or annotation.get("motivation", "painting") not in (
                "painting",
                ["painting"],
            ):
                continue
            for body in as_list(annotation.get("body"))[:1]:
                if isinstance(body, dict) and body.get("type") == "Choice":
                    counted["choice"] += 1
                    body = next(iter(as_list(body.get("items"))), None)
                if isinstance(body, dict) and body.get("type") == "SpecificResource":
                    body = body.get("source")
                if isinstance(body, str):
                    body = {"id": body}
                if isinstance(body, dict) and body.get("type", "Image") == "Image":
                    yield body


def _painted_2(canvas: Json, counted: Counter[str]) -> Iterator[Json]:
    """Return the pictures painted on a canvas of Presentation 2; the default of a choice."""
    for annotation in as_list(canvas.get("images"))[:200]:
        resource = annotation.get("resource") if isinstance(annotation, dict) else None
        for _ in range(3):
            if not isinstance(resource, dict):
                break
            if type_of(resource) == "oa:Choice":
                counted["choice"] += 1
                resource = resource.get("default")
            elif type_of(resource) == "oa:SpecificResource":
                resource = resource.get("full")
        if isinstance(resource, str):
            resource = {"@id": resource}
        if isinstance(resource, dict):
            yield resource


def _service_version(service: Any) -> int | None:
    """Return the Image API version of a service: by type, else by context or profile; None for another service."""
    if not isinstance(service, dict):
        return None
    kind = type_of(service)
    if isinstance(kind, str) and kind.startswith("ImageService") and kind[12:] in ("1", "2", "3"):
        return int(kind[12:])
    identifiers = " ".join(
        identifier
        for key in ("@context", "profile", "dcterms:conformsTo")
        for identifier in as_list(service.get(key))[:5]
        if isinstance(identifier, str)
    )
    if "/image/3" in identifiers:
        return 3
    if "/image/2" in identifiers or "/image-api/2" in identifiers:
        return 2
    return 1 if "/image/1" in identifiers or "image-api/1" in identifiers else None


def _service_level(service: Json) -> int | None:
    """Return the compliance level that a service claims, 0 to 2."""
    for claimed in as_list(service.get("profile"))[:5]:
        if isinstance(claimed, str):
            for level in (2, 1, 0):
                if f"level{level}" in claimed[-40:]:
                    return level
    return None


def _describe_manifest(manifest: Json) -> dict[str, str]:
    """Return metadata, summary, rights and attribution as plain pairs; values of one name are grouped."""
    pairs: dict[str, str] = {}

    def add(name: str, value: str) -> None:
        if name and value and (name in pairs or len(pairs) < MAX_PAIRS):
            pairs[name] = f"{pairs[name]}; {value}"[:2000] if name in pairs else value

    for pair in as_list(manifest.get("metadata"))[: 4 * MAX_PAIRS]:
        if isinstance(pair, dict):
            add(plain_text(pair.get("label"), 100), plain_text(pair.get("value"), 2000))
    add("Summary", plain_text(manifest.get("summary") or manifest.get("description"), 2000))
    required = manifest.get("requiredStatement")
    attribution = required.get("value") if isinstance(required, dict) else manifest.get("attribution")
    add("Attribution", plain_text(attribution, 2000))
    add("Rights", plain_text(manifest.get("rights") or manifest.get("license"), 2000))
    return pairs


def _direction(manifest: Json, version: int) -> Literal["ltr", "rtl", "ttb"] | None:
    direction = manifest.get("viewingDirection")
    if direction is None and version == 2:
        first = next(
            (sequence for sequence in as_list(manifest.get("sequences")) if isinstance(sequence, dict)), {}
        )
        direction = first.get("viewingDirection")
    directions: dict[str, Literal["ltr", "rtl", "ttb"]] = {
        "left-to-right": "ltr",
        "right-to-left": "rtl",
        "top-to-bottom": "ttb",
    }
    return directions.get(direction) if isinstance(direction, str) else None
