"""The table that Omeka S imports (CSV Import): a row a document, columns are properties, tags, text and pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from armarium_documents.api import write_sheet
from armarium_exports.receivers.items import Item
from armarium_exports.receivers.tropy import TERMS

_DCTERMS = "http://purl.org/dc/terms/"


def omeka_of(items: Iterable[Item], images: str) -> bytes:
    """Return the table of *items*; what it lacks is added to the losses of their pages."""
    rows: list[dict[str, str]] = []
    for item in items:
        metadata = item.whole["source_metadata"].get("omeka", {})
        row = {
            "dcterms:identifier": str(metadata.get("key") or item.whole["id"]),
            "dcterms:title": item.whole["name"],
        }
        divided = 0
        for name, value in item.whole["attributes"].items():
            if name == "tags" or value in (None, "", [], {}):
                continue
            address = metadata.get("properties", {}).get(name, {}).get("uri", "")
            term = address.startswith(_DCTERMS) or name in TERMS
            values = [str(member) for member in (value if isinstance(value, list) else [value])]
            divided += sum("|" in text for text in values)
            row[f"dcterms:{name}" if term else name] = "|".join(values)
        row["Tags"] = "|".join(item.tags)
        row["bibo:content"] = "\n".join(page.text.strip() for page, _, _ in item.pages if page.text.strip())
        row["sideload"] = "|".join(f"{page.stem}{page.ending}" for page, _, _ in item.pages)
        rows.append(row)
        noted = len(item.notes)
        for page, _, notes in item.pages:
            noted += len(notes)
            last: list[dict[str, Any]] = page.losses
        for what, count, why in (
            ("annotations", noted, "a row of Omeka S has no place for them"),
            ("a | within a value", divided, "it divides values, and the value becomes several"),
        ):
            if count:
                last.append({"what": what, "count": count, "why": why})
    headings = list(dict.fromkeys(name for row in rows for name in row))
    return b"".join(write_sheet(headings, ([row.get(name, "") for name in headings] for row in rows), "csv"))
