"""The command of searching: pages with the lines that contain the words, and on request pictures of those lines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Session,
    Topic,
    answer,
    file_name,
    plural,
    project_session,
    write_file,
)
from armarium_documents.commandline import DOCUMENT, FLAGS, document_id

commands = Commands(Topic.pages)

LISTS = ("doc_types", "file_types", "prototype_keys", "languages", "source_authority")
SINGLE = ("date_from", "date_to", "created_from", "created_to")
TRUTHS = (*FLAGS, "has_reading")


@commands.example("search 'city of Mexico' --fuzzy --picture found")
def search(
    words: Annotated[list[str], "What to search for; in quotes within the query: a phrase. NOT excludes."],
    fuzzy: Annotated[
        bool, "Also words one or two letters different: misread, or spelled differently."
    ] = False,
    alike: Annotated[bool, "Also similar passages, if they have vectors."] = False,
    people: Annotated[list[str] | None, "Only where this person is named."] = None,
    places: Annotated[list[str] | None, "Only where this place is named."] = None,
    dates: Annotated[str | None, "A year, month, day, decade (183X) or interval (1832/1840)."] = None,
    within: Annotated[str | None, "--in: Only at or below this folder or document.", DOCUMENT] = None,
    where: Annotated[
        list[str] | None, "A filter, as in languages=es, is_starred=true or date_from=1832."
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many pages to list.")] = 10,
    offset: Annotated[int, typer.Option(min=0, help="How many pages to skip first.")] = 0,
    picture: Annotated[Path | None, "A folder for pictures of the lines found."] = None,
) -> None:
    """Find pages by their words, and show the lines that contain them."""
    with project_session() as session:
        scopes = [f'people:"{person}"' for person in people or ()] + [
            f'places:"{place}"' for place in places or ()
        ]
        query = " ".join([*words, *scopes, *([f"dates:{dates}"] if dates else [])])
        filters = filters_of(where or ())
        if within is not None:
            filters["parent_id"] = document_id(session, within)
        body = {
            "query": query,
            "limit": limit,
            "offset": offset,
            "use_fuzzy_match": fuzzy,
            "search_type": "hybrid" if alike else "fulltext",
            "filters": filters or None,
        }
        hits = session.post("/api/search", body)
        if picture is not None:
            for result in hits["results"]:
                for line in result["transcript_excerpts"]:
                    line["picture"] = picture_of(session, line["segment_id"], result, picture)

    answer(hits, lambda: show(hits))


def filters_of(where: Any) -> dict[str, Any]:
    """Return `name=value` pairs as the filters of a search; Refused for an unknown name."""
    filters: dict[str, Any] = {}
    for condition in where:
        name, parted, value = condition.partition("=")
        if not parted or name not in (*LISTS, *SINGLE, *TRUTHS):
            raise Refused(
                f"--where takes NAME=VALUE with one of the names {', '.join((*LISTS, *SINGLE, *TRUTHS))}; "
                f"{condition!r} is not one of them."
            )
        if name in LISTS:
            filters.setdefault(name, []).append(value)
        else:
            filters[name] = value.casefold() in ("true", "yes", "1") if name in TRUTHS else value
    return filters


def picture_of(session: Session, segment_id: str, result: dict[str, Any], folder: Path) -> str | None:
    """Write the picture of a line to a file in *folder*; return None if the page has no picture."""
    try:
        bytes_of_it = session.raw("GET", f"/api/segments/{segment_id}/picture")
    except Refused:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / file_name(f"{result['metadata']['name']}-{segment_id}.png")
    write_file(place, bytes_of_it, overwrite=True)
    return str(place)


def show(found: dict[str, Any]) -> None:
    """Print what was found, with its words marked."""
    at_least = "" if found["total_is_exact"] else "at least "
    typer.echo(f"{at_least}{plural(found['total_results'], 'document')} found.".capitalize())
    for result in found["results"]:
        meta = result["metadata"]
        folder_path = f" in {' / '.join(meta['folders'])}" if meta["folders"] else ""
        typer.echo(f"{typer.style(meta['name'], bold=True)}{folder_path}  {result['document_id']}")
        for line in result["transcript_excerpts"]:
            marked_line = f"  {mark_ranges(line['text'], line['ranges'])}"
            typer.echo(marked_line + (f"  ({line['picture']})" if line.get("picture") else ""))
    for word, others in found["fuzzy_words"].items():
        typer.echo(f"Beside {word}: {', '.join(others)}")
    if found["suggestions"]:
        typer.echo(f"Perhaps: {'; '.join(found['suggestions'])}")
    notices = [found["notice"], (found["semantic"] or {}).get("notice")]
    if found["pages_behind"]:
        notices.append(f"{plural(found['pages_behind'], 'page')} changed and not indexed yet.")
    for notice in filter(None, notices):
        typer.echo(notice)


def mark_ranges(text: str, ranges: list[list[int]]) -> str:
    """Return *text* with the stretches of *ranges* marked."""
    parts: list[str] = []
    at = 0
    for start, end in ranges:
        parts += [text[at:start], typer.style(text[start:end], bold=True, underline=True)]
        at = end
    return "".join([*parts, text[at:]])
