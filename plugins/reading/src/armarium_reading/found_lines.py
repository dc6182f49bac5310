"""Converts a worker's lines into the parameters of the action that writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium_documents.api import PageImage
from armarium_reading.evidence import on_picture


def found_lines(answer: Mapping[str, Any], picture: PageImage) -> list[dict[str, Any]]:
    """Return a worker's lines in fractions of the *picture*, in the form that `segment.take_lines` expects."""
    width, height = float(answer["width"]), float(answer["height"])
    bodies: list[dict[str, Any]] = []
    for number, line in enumerate(answer["lines"]):
        x, y, w, h = line["rect"]
        body: dict[str, Any] = {
            "key": line.get("key") or f"line-{number}",
            "kind": line["kind"],
            "rect": [x / width, y / height, w / width, h / height],
        }
        for name in ("polygon", "baseline"):
            if name in line:
                body[name] = [[px / width, py / height] for px, py in line[name]]
        for ours, theirs in (("parent_key", "parent"), ("direction", "direction"), ("kind_raw", "kind_raw")):
            if theirs in line:
                body[ours] = line[theirs]
        reading = line.get("reading")
        confidence = line.get("confidence")
        if reading is not None and reading["text"]:
            body["text"] = reading["text"]
            confidence = reading.get("confidence", confidence)
            if "places" in reading:
                body["places"] = on_picture(reading["places"], picture)
        if confidence is not None:
            body["confidence"] = confidence
        bodies.append(body)
    return bodies
