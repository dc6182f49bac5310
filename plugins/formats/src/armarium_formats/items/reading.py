"""Which program wrote an export, and its items."""

from __future__ import annotations

import io

import orjson

from armarium.api import Invalid, parse_xml
from armarium_documents.api import NotATable, read_separated
from armarium_formats.items.omeka import is_omeka, read_omeka
from armarium_formats.items.parts import ItemExport
from armarium_formats.items.tropy import read_tropy
from armarium_formats.items.zotero import read_better_bibtex, read_csl, read_zotero_rdf

_NAMED = (
    "Name what Tropy exported as JSON-LD, what Zotero exported as RDF, Better BibTeX JSON or CSL JSON, or a table of "
    "Omeka S (CSV with a column dcterms:title)."
)


def read_items(data: bytes, name: str) -> ItemExport:
    """Return the items of an export; Invalid naming *name* for anything else, and beyond the limits."""
    begin = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if begin == b"<":
        root = parse_xml(data, name=name)
        if str(root.tag).endswith("}RDF"):
            return read_zotero_rdf(root, name)
        raise Invalid(f"{name} is XML, but not RDF. {_NAMED}", code="not_items")
    if begin in (b"{", b"["):
        try:
            parsed = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
        except orjson.JSONDecodeError as fault:
            raise Invalid(f"{name} is not JSON: {fault}.", code="not_items") from None
        if isinstance(parsed, dict) and isinstance(parsed.get("items"), list):
            return read_better_bibtex(parsed, name)
        graphs = parsed if isinstance(parsed, list) else [parsed]
        if any(
            isinstance(graph, dict) and isinstance(graph.get("type"), str) and "@context" not in graph
            for graph in graphs
        ):
            return read_csl(graphs, name)
        return read_tropy(graphs, name)
    try:
        sheet = read_separated(io.BytesIO(data))
        if is_omeka(sheet):
            return read_omeka(sheet, name)
    except NotATable as fault:
        raise Invalid(f"{name} is not a table: {fault}. {_NAMED}", code="not_items") from None
    raise Invalid(f"{name} is not an export that is known here. {_NAMED}", code="not_items")
