"""Commands of exports: records, a site, files for other programs, and kept exports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    BY_PATH,
    Commands,
    Finder,
    Refused,
    Session,
    Topic,
    answer,
    follow_job,
    full_path,
    in_words,
    place_for,
    plural,
    project_session,
    write_file,
)
from armarium_documents.commandline import DOCUMENT, Scope, document_id, say_makers, scope_of

commands = Commands(Topic.files)

BAR = 20
"""The length of a full bar, in characters."""
NAMED = 10
"""How many withheld sources and losses are named."""

Overwrite = Annotated[bool, "--overwrite/--no-overwrite: Overwrite what an export wrote there."]
Of = Annotated[str | None, "--of: A document, with everything below it; default: all.", DOCUMENT]
PER = Finder(lambda session, document: "document" if document else "folder")


@commands.example("export-records records.jsonl")
def records(
    out: Annotated[str, "A file ending in .jsonl, or a folder for Parquet."],
    of: Of = None,
    pictures: Annotated[
        bool, "--line-pictures: With Parquet: one more file, with lines and their pictures."
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write every record as JSON Lines or, to a folder, as Parquet files."""
    as_lines = out.endswith(".jsonl")
    if pictures and as_lines:
        raise Refused("Line pictures are written with Parquet; name a folder in place of a .jsonl file.")
    body: dict[str, Any] = {"output_path": full_path(out), "overwrite": overwrite}
    if pictures:
        body["line_pictures"] = True
    with project_session() as session:
        if of is not None:
            body["target_id"] = document_id(session, of)
        result = session.post(f"/api/export/{'jsonl' if as_lines else 'parquet'}", body)

    def words() -> None:
        typer.echo(f"Wrote {plural(result['document_count'], 'document')} to {result['output_path']}:")
        for name, count in result["record_counts"].items():
            if count:
                typer.echo(f"  {name}: {count}")
        _say_withheld(result)

    answer(result, words)


def _say_first(items: list[dict[str, Any]], words: str, more: str = "") -> None:
    """Say *words* of the first few, and how many there are *more*."""
    for item in items[:NAMED]:
        typer.echo(words.format(**item), err=True)
    if more and len(items) > NAMED:
        typer.echo(more.format(len(items) - NAMED), err=True)


def _say_withheld(answer: dict[str, Any]) -> None:
    more = "  left out: {} more, because of their rights."
    _say_first(answer["withheld"], "  left out: {document_id}. {why}", more)


def _say_split(answer: dict[str, Any]) -> None:
    more = "  left out: the texts of {} more split pictures."
    _say_first(answer["left_out"], "  left out: {why}", more)


def _say_samples(answer: dict[str, Any]) -> str:
    _say_withheld(answer)
    return in_words(
        "Wrote {sample_count:sample} ({gold_count} corrected by a person) to {output_path}.", answer
    )


@commands.asks("export-samples samples.jsonl", "POST /api/export/training", says=_say_samples)
def samples(
    output_path: Annotated[str, "OUT: A file ending in .jsonl.", BY_PATH],
    use_case: Annotated[str | None, "Only the calls of this step."] = None,
    gold_only: Annotated[bool, "--gold: Only pairs that a person corrected."] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write training samples: what models were asked, and what they answered or should have."""


def _say_site(answer: dict[str, Any]) -> Iterator[str]:
    yield in_words("Wrote a site of {document_count:page} to {output_path}.", answer)
    if answer["built"]:
        yield in_words("Built it into {built}, which any web host can serve.", answer)
    else:
        yield "Build it there with: npm install, then npm run build. The site is then in _site."
    if answer["earlier_build"]:
        typer.echo(f"  built before this export, and unchanged: {answer['earlier_build']}", err=True)
    for path in answer["left_behind"]:
        typer.echo(f"  could not be removed: {path}", err=True)
    say_makers(answer["made"])
    _say_split(answer)
    _say_withheld(answer)


@commands.asks("export-site site --title Letters", "POST /api/export/eleventy-site", says=_say_site)
def site(
    output_path: Annotated[str, "OUT: A folder for the Eleventy project.", BY_PATH],
    target_id: Of = None,
    site_title: Annotated[str | None, "--title: Default: the name of what is published."] = None,
    include_unreviewed: Annotated[bool, "--unreviewed: Include statements that nobody has reviewed."] = False,
    build: Annotated[bool, "Also build it; needs the runtime site-builder."] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a site of the project that any web host can serve, as an Eleventy project."""


def _say_pdf(answer: dict[str, Any]) -> Iterator[str]:
    yield in_words("Wrote {pages:page} to {output_path}.", answer)
    say_makers(answer["made"])
    for loss in answer["losses"]:
        typer.echo(f"  lost: {loss['count']} {loss['what']}: {loss['why']}.", err=True)
    _say_split(answer)
    _say_withheld(answer)


@commands.asks("export-pdf letters.pdf --of Letters", "POST /api/export/pdf", says=_say_pdf)
def pdf(
    output_path: Annotated[str, "OUT: A file ending in .pdf.", BY_PATH],
    target_id: Of = None,
    overwrite: Overwrite = False,
) -> None:
    """Write one PDF that can be searched: the pictures as they are, the text invisible where it stands, folders as bookmarks."""


VOLUMES = {"docx": "word", "pdf": "pdf", "md": "markdown", "txt": "plain-text", "xml": "tei"}
"""Formats of one file of many pages, by the endings of files."""
_FOUND_AT_ONCE, _MOST_FOUND = 100, 10_000


@commands.example("export-one letters.docx --of Letters --facsimile")
def export_one(
    out: Annotated[Path, "A file ending in .docx (Word), .pdf, .md (Markdown), .txt or .xml (TEI)."],
    of: Of = None,
    search: Annotated[
        str | None, "--search WORDS: Of the pages that a search finds, in the order of the project."
    ] = None,
    facsimile: Annotated[bool, "Word: with the picture beside the text (a PDF has it always)."] = False,
    overwrite: Annotated[bool, "--overwrite/--no-overwrite: Replace a file that is there."] = False,
) -> None:
    """Write one file of a document, a folder, the project or a search, with the tree as headings and footnotes for marks."""
    format_name = VOLUMES.get(out.suffix.lower().removeprefix("."))
    if format_name is None:
        raise Refused(
            f"{out} does not end in {', '.join(f'.{ending}' for ending in VOLUMES)}, which says what to write."
        )
    place_for(out, overwrite=overwrite)
    with project_session() as session:
        scope = [] if of is None else [document_id(session, of)]
        body = {"what": "volume", "format": format_name, "scope_ids": scope, "facsimile": facsimile}
        if search is not None:
            body["scope_ids"] = _pages_found(session, search, scope)
        begun = session.post("/api/export/downloads/start", body)
        follow_job(session, begun["job_id"], "Write")
        prepared = session.get("/api/export/downloads")["exports"]
        export = next(entry for entry in prepared if entry["job_id"] == begun["job_id"])
        write_file(out, session.raw("GET", f"/api/export/downloads/{export['id']}"), overwrite=overwrite)

    def words() -> None:
        typer.echo(f"Wrote {plural(export['pages'], 'page')} to {out}.")
        say_makers(export["made"])
        _say_first(export["left_out"], "  {why}", "  {} more have not been read; the file names them.")
        _say_withheld(export)

    answer({**export, "path": str(out)}, words)


def _pages_found(session: Session, words: str, scope: list[str]) -> list[str]:
    """Return what a search finds, in *scope* if that is a document; Refused if it is nothing, or too much for one file."""
    filters = {"parent_id": scope[0]} if scope else None
    page_ids: list[str] = []
    while True:
        body = {"query": words, "limit": _FOUND_AT_ONCE, "offset": len(page_ids), "filters": filters}
        results = session.post("/api/search", body)["results"]
        page_ids += [result["document_id"] for result in results]
        if len(results) < _FOUND_AT_ONCE:
            break
        if len(page_ids) >= _MOST_FOUND:
            raise Refused(
                f"{words!r} is found in more than {_MOST_FOUND:,} pages, too many for one file; narrow it with --of."
            )
    if not page_ids:
        raise Refused(f"{words!r} is not found, so there is nothing to write; armarium search shows what is.")
    return page_ids


@commands.example("export-for kraken Letters --out kraken")
def export_for(
    receiver: Annotated[
        str, "escriptorium, transkribus, ocr-d, kraken, mets-viewer, tropy, zotero or omeka-s."
    ],
    ids: Scope = None,
    out: Annotated[str, "--out, -o: The folder to write."] = "export",
    report: Annotated[bool, "Only show what would be lost."] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write pages with their pictures in the form that another program opens."""
    with project_session() as session:
        scope = {"receiver": receiver, "scope_ids": scope_of(session, ids)}
        if report:
            outcome = session.post("/api/export/receivers/report", scope)
        else:
            body = {**scope, "output_path": full_path(out), "overwrite": overwrite}
            outcome = session.post("/api/export/receivers", body)

    def words() -> None:
        verb = "Would write" if report else "Wrote"
        destination = "" if report else f" to {outcome['output_path']}"
        typer.echo(f"{verb} {plural(outcome['pages'], 'page')} for {outcome['receiver']}{destination}.")
        say_makers(outcome["made"])
        for line in _draw_losses(outcome["losses"], outcome["pages"]):
            typer.echo(line)
        _say_first(outcome["left_out"], "  left out: {document_id}. {why}")
        for problem in outcome["problems"]:
            typer.echo(f"  problem: {problem}", err=True)
        _say_withheld(outcome)

    answer(outcome, words)


def _draw_losses(pages: list[dict[str, Any]], count: int) -> list[str]:
    """Print a line for each loss, the most widespread first: a bar for the share of affected pages, how
    often, and why.
    """
    page_counts: Counter[tuple[str, str]] = Counter()
    in_all: Counter[tuple[str, str]] = Counter()
    for page in pages:
        page_counts.update({(loss["what"], loss["why"]) for loss in page["losses"]})
        for loss in page["losses"]:
            in_all[loss["what"], loss["why"]] += loss["count"]
    if not page_counts:
        return ["  nothing would be lost."] if count else []
    width = min(max(len(what) for what, _ in page_counts), 40)
    lines = ["  lost:"]
    for (lost, why), number in sorted(page_counts.items(), key=lambda pair: (-pair[1], pair[0])):
        filled = max(1, round(BAR * number / count))
        filled_bar = "█" * filled + "░" * (BAR - filled)
        share = f"{number} of {plural(count, 'page')}"
        lines.append(f"  {lost:<{width}} {filled_bar} {share}, {in_all[lost, why]} in all: {why}.")
    return lines


@commands.asks(
    "keep-export word ~/Documents/letters",
    "POST /api/export/kept",
    follows="Write",
    says="Kept up to date in {folder} from now on. To see what it wrote: armarium kept-exports",
)
def keep_export(
    format: Annotated[str, "word, markdown, pdf, or a format that armarium formats lists as written."],
    folder: Annotated[str, "An existing folder outside the project.", BY_PATH],
    per: Annotated[
        bool | None,
        "--per-document/--per-folder: Write one file per document, or per folder at the top, instead of per page.",
        PER,
    ] = None,
) -> None:
    """Keep an export in a folder: it is written now and updated as the work changes. The folder is never read back."""


@commands.example("kept-exports --write")
def kept_exports(
    write: Annotated[bool, "Write all of them now."] = False,
    end: Annotated[str | None, "--end ID: Stop keeping this one."] = None,
) -> None:
    """List the kept exports and what each wrote."""
    with project_session() as session:
        if end is not None:
            session.delete(f"/api/export/kept/{end}")
        listed = session.get("/api/export/kept")
        if write:
            for export in listed["exports"]:
                follow_job(session, session.post(f"/api/export/kept/{export['id']}/write")["job_id"], "Write")
            listed = session.get("/api/export/kept")

    def words() -> None:
        if not listed["exports"]:
            typer.echo("There is no kept export; create one with armarium keep-export FORMAT FOLDER.")
        for export in listed["exports"]:
            typer.echo(f"{export['id']}: {export['format']} per {export['per']} in {export['folder']}")
            typer.echo(f"  {plural(len(export['files']), 'file')}, {export['pending']} to be written again")
            _say_first(export["in_the_way"], "  not touched: {path}. {why}")
            _say_first(export["left_behind"], "  no longer updated: {path}; remove it by hand.")

    answer(listed, words)
