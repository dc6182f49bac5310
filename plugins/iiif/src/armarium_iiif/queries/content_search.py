"""Content Search 2.0: the lines and words of a page or folder in which a query's words stand, and terms to search for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from sqlalchemy import Connection

from armarium.api import Engine, Library, json_text, raw_of
from armarium_documents.api import require_document
from armarium_iiif.places import Places
from armarium_iiif.queries.canvases import page_canvases
from armarium_iiif.queries.lines import frames_of
from armarium_search.api import LineFound, lines_found, terms_found
from armarium_source_model.api import segments, words_of_lines

Json = dict[str, Any]

MOST_PAGES = 20
"""The lines of how many pages one answer contains."""
AROUND = 100
"""How many characters before and after a word are quoted."""
CONTEXT = "http://iiif.io/api/search/2/context.json"

_PLACES = f"""
SELECT s.id, s.kind, json_extract(s.anchor, '$.rendition_id'), s.bbox_x, s.bbox_y, s.bbox_w, s.bbox_h
FROM json_each(?) j JOIN {segments} s ON s.id = j.value
"""


class ContentQuery(NamedTuple):
    """What a viewer asks of a node, and which parameters of the API are not used in the answer."""

    node: str
    query: str
    ignored: tuple[str, ...] = ()


def search(engine: Engine, library: Library, places: Places, query: ContentQuery, after: str | None) -> Json:
    """Return the lines of a node's pages in which the query's words stand, in reading order; each word by itself where somebody
    placed it. NotFound for an unknown node.
    """
    address = places.search(query.node)
    with library.db.read() as conn:
        require_document(conn, query.node)
        lines, more = lines_found(
            conn, engine, library, query.query, query.node, after=after, most=MOST_PAGES
        )
        items, hits = _annotations(conn, places, lines)
    page: Json = {
        "@context": CONTEXT,
        "id": _add_parameters(address, q=query.query, after=after),
        "type": "AnnotationPage",
        "items": items,
        "annotations": [{"id": f"{address}#hits", "type": "AnnotationPage", "items": hits}],
    }
    if query.ignored:
        page["ignored"] = list(query.ignored)
    if more is not None or after is not None:
        first = _add_parameters(address, q=query.query)
        page["partOf"] = {
            "id": first,
            "type": "AnnotationCollection",
            "first": {"id": first, "type": "AnnotationPage"},
        }
    if more is not None:
        page["next"] = {"id": _add_parameters(address, q=query.query, after=more), "type": "AnnotationPage"}
    return page


def autocomplete(engine: Engine, library: Library, places: Places, query: ContentQuery, least: int) -> Json:
    """Return the terms on a node's pages that begin with the query, as search folds them, with how often each occurs."""
    with library.db.read() as conn:
        require_document(conn, query.node)
        terms = terms_found(conn, engine, library, query.query, query.node, least)
    page: Json = {
        "@context": CONTEXT,
        "id": _add_parameters(
            places.autocomplete(query.node), q=query.query, min=least if least > 1 else None
        ),
        "type": "TermPage",
        "items": [
            {
                "type": "Term",
                "value": term,
                "total": often,
                "service": [
                    {
                        "id": _add_parameters(
                            places.search(query.node), q=f'"{term}"' if " " in term else term
                        ),
                        "type": "SearchService2",
                    }
                ],
            }
            for term, often in terms
        ],
    }
    if query.ignored:
        page["ignored"] = list(query.ignored)
    return page


def services(places: Places, document_id: str) -> list[Json]:
    """Return the services by which a node is searched, of both versions; none of the text as of a step."""
    if places.as_of is not None:
        return []
    old = places._replace(search_version="1")
    return [
        {
            "id": places.search(document_id),
            "type": "SearchService2",
            "service": [{"id": places.autocomplete(document_id), "type": "AutoCompleteService2"}],
        },
        {
            "@context": "http://iiif.io/api/search/1/context.json",
            "@id": old.search(document_id),
            "@type": "SearchService1",
            "profile": "http://iiif.io/api/search/1/search",
            "service": {
                "@id": old.autocomplete(document_id),
                "@type": "AutoCompleteService1",
                "profile": "http://iiif.io/api/search/1/autocomplete",
            },
        },
    ]


def search_as_1(answer: Json) -> Json:
    """Return an answer of `search` as Content Search 1.0."""
    annotation_list: Json = {
        "@context": [
            "http://iiif.io/api/presentation/2/context.json",
            "http://iiif.io/api/search/1/context.json",
        ],
        "@id": answer["id"],
        "@type": "sc:AnnotationList",
        "within": {"@type": "sc:Layer", "ignored": answer.get("ignored", [])},
        "resources": [
            {
                "@id": annotation["id"],
                "@type": "oa:Annotation",
                "motivation": "sc:painting",
                "resource": {"@type": "cnt:ContentAsText", "chars": annotation["body"]["value"]},
                "on": annotation["target"],
            }
            for annotation in answer["items"]
        ],
        "hits": [
            {
                "@type": "search:Hit",
                "annotations": [hit["target"]["source"]],
                "before": quote["prefix"],
                "match": quote["exact"],
                "after": quote["suffix"],
            }
            for hit in answer["annotations"][0]["items"]
            for quote in hit["target"]["selector"]
        ],
    }
    if "next" in answer:
        annotation_list["next"] = answer["next"]["id"]
    return annotation_list


def terms_as_1(answer: Json) -> Json:
    """Return an answer of `autocomplete` as Content Search 1.0."""
    return {
        "@context": "http://iiif.io/api/search/1/context.json",
        "@id": answer["id"],
        "@type": "search:TermList",
        "ignored": answer.get("ignored", []),
        "terms": [
            {"match": term["value"], "url": term["service"][0]["id"], "count": term["total"]}
            for term in answer["items"]
        ],
    }


def _add_parameters(address: str, **params: object) -> str:
    return f"{address}?{urlencode({name: value for name, value in params.items() if value is not None})}"


def _annotations(
    conn: Connection, places: Places, lines: Sequence[LineFound]
) -> tuple[list[Json], list[Json]]:
    """Return the annotations of the lines found, and for each word of the query where it stands in one of them."""
    canvases = {
        canvas.document_id: canvas
        for canvas in page_canvases(conn, list({line.document_id for line in lines}))
    }
    frames = {page: frames_of(conn, canvas) for page, canvas in canvases.items() if canvas.width is not None}
    rows = raw_of(conn).execute(_PLACES, (json_text([line.segment_id for line in lines]),))
    line_places = {row[0]: row[1:] for row in rows}
    words = words_of_lines(conn, list(line_places))
    items: list[Json] = []
    hits: list[Json] = []
    for line in lines:
        if line.document_id not in frames or line.segment_id not in line_places:
            continue
        kind, rendition_id, *rect = line_places[line.segment_id]
        whole = (kind, line.segment_id, line.text, rendition_id, rect)
        parts: dict[tuple[int, int], Any] = {}
        for start, end in line.ranges:
            own = [
                word
                for word in words.get(line.segment_id, ())
                if word.char_start < end and start < word.char_end
            ]
            parts[start, end] = [
                ("word", f"{line.segment_id}-{word.char_start}", word.text, word.rendition_id, word.rect)
                for word in own
            ] or [whole]
        items_by_address: dict[str, Json] = {}
        for (start, end), several in parts.items():
            for granularity, identity, text, rendition, box in several:
                placed = frames[line.document_id].box(rendition, tuple(box))
                if placed is None:
                    continue
                address = f"{places.lines(line.document_id)}#{identity}"
                items_by_address[address] = {
                    "id": address,
                    "type": "Annotation",
                    "motivation": "supplementing",
                    "body": {"type": "TextualBody", "value": text, "format": "text/plain"},
                    "target": f"{canvases[line.document_id].address(places)}#xywh={','.join(map(str, placed))}",
                }
                hits.append(_make_hit(address, line.text, start, end, is_word=granularity == "word"))
        items += items_by_address.values()
    return items, hits


def _make_hit(address: str, text: str, start: int, end: int, *, is_word: bool) -> Json:
    return {
        "id": f"{address}-{start}-{end}",
        "type": "Annotation",
        "motivation": "contextualizing" if is_word else "highlighting",
        "target": {
            "type": "SpecificResource",
            "source": address,
            "selector": [
                {
                    "type": "TextQuoteSelector",
                    "prefix": text[max(0, start - AROUND) : start],
                    "exact": text[start:end],
                    "suffix": text[end : end + AROUND],
                }
            ],
        },
    }
