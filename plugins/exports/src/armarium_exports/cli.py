"""Commands of exports: records, a site, files for other programs, and kept exports."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.commandline import (
    Refused,
    Topic,
    answer,
    follow_job,
    full_path,
    plural,
    project_session,
)
from armarium_documents.commandline import Scope, document_id, document_names, say_makers, scope_of

BAR = 20
"""The length of a full bar, in characters."""
NAMED = 10
"""How many withheld sources and losses are named."""

Overwrite = Annotated[bool, typer.Option(help="Overwrite what an export wrote there.")]
Of = Annotated[
    str | None,
    typer.Option(
        "--of", help="A document, with everything below it; default: all.", autocompletion=document_names
    ),
]
FORMATS = ("word", "markdown", "plain-text", "alto", "pagexml", "tei")


def commands() -> typer.Typer:
    """Return the commands."""
    program = typer.Typer()
    put = program.command
    put(
        "export-records", rich_help_panel=Topic.files, epilog="Example: armarium export-records records.jsonl"
    )(records)
    put(
        "export-samples", rich_help_panel=Topic.files, epilog="Example: armarium export-samples samples.jsonl"
    )(samples)
    put(
        "export-site",
        rich_help_panel=Topic.files,
        epilog="Example: armarium export-site site --title Letters",
    )(site)
    put(
        "export-for",
        rich_help_panel=Topic.files,
        epilog="Example: armarium export-for kraken Letters --out kraken",
    )(export_for)
    put(
        "keep-export",
        rich_help_panel=Topic.files,
        epilog="Example: armarium keep-export word ~/Documents/letters",
    )(keep_export)
    put("kept-exports", rich_help_panel=Topic.files, epilog="Example: armarium kept-exports --write")(
        kept_exports
    )
    return program


def records(
    out: Annotated[str, typer.Argument(help="A file ending in .jsonl, or a folder for Parquet.")],
    of: Of = None,
    pictures: Annotated[
        bool,
        typer.Option("--line-pictures", help="With Parquet: one more file, with lines and their pictures."),
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
        written = session.post(f"/api/export/{'jsonl' if as_lines else 'parquet'}", body)

    def words() -> None:
        typer.echo(f"Wrote {plural(written['document_count'], 'document')} to {written['output_path']}:")
        for name, count in written["record_counts"].items():
            if count:
                typer.echo(f"  {name}: {count}")
        _say_withheld(written)

    answer(written, words)


def _say_withheld(written: dict[str, Any]) -> None:
    withheld = written["withheld"]
    for one in withheld[:NAMED]:
        typer.echo(f"  left out: {one['document_id']}. {one['why']}", err=True)
    if len(withheld) > NAMED:
        typer.echo(f"  left out: {len(withheld) - NAMED} more, because of their rights.", err=True)


def samples(
    out: Annotated[str, typer.Argument(help="A file ending in .jsonl.")],
    use_case: Annotated[str | None, typer.Option("--use-case", help="Only the calls of this step.")] = None,
    gold: Annotated[bool, typer.Option("--gold", help="Only pairs that a person corrected.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write training samples: what models were asked, and what they answered or should have."""
    body: dict[str, Any] = {"output_path": full_path(out), "gold_only": gold, "overwrite": overwrite}
    if use_case is not None:
        body["use_case"] = use_case
    with project_session() as session:
        written = session.post("/api/export/training", body)

    def words() -> None:
        count = plural(written["sample_count"], "sample")
        typer.echo(
            f"Wrote {count} ({written['gold_count']} corrected by a person) to {written['output_path']}."
        )
        _say_withheld(written)

    answer(written, words)


def site(
    out: Annotated[str, typer.Argument(help="A folder for the Eleventy project.")],
    of: Of = None,
    title: Annotated[
        str | None, typer.Option("--title", help="Default: the name of what is published.")
    ] = None,
    unreviewed: Annotated[
        bool, typer.Option("--unreviewed", help="Include statements that nobody has reviewed.")
    ] = False,
    build: Annotated[
        bool, typer.Option("--build", help="Also build it; needs the runtime site-builder.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a site of the project that any web host can serve, as an Eleventy project."""
    body: dict[str, Any] = {
        "output_path": full_path(out),
        "overwrite": overwrite,
        "include_unreviewed": unreviewed,
        "build": build,
    }
    if title is not None:
        body["site_title"] = title
    with project_session() as session:
        if of is not None:
            body["target_id"] = document_id(session, of)
        written = session.post("/api/export/eleventy-site", body)

    def words() -> None:
        typer.echo(
            f"Wrote a site of {plural(written['document_count'], 'page')} to {written['output_path']}."
        )
        if build:
            typer.echo(f"Built it into {written['built']}, which any web host can serve.")
        else:
            typer.echo("Build it there with: npm install, then npm run build. The site is then in _site.")
        if written["earlier_build"]:
            typer.echo(f"  built before this export, and unchanged: {written['earlier_build']}", err=True)
        for one in written["left_behind"]:
            typer.echo(f"  could not be removed: {one}", err=True)
        say_makers(written["made"])
        _say_withheld(written)

    answer(written, words)


def export_for(
    receiver: Annotated[str, typer.Argument(help="escriptorium, transkribus, ocr-d, kraken or mets-viewer.")],
    ids: Scope = None,
    out: Annotated[str, typer.Option("--out", "-o", help="The folder to write.")] = "export",
    report: Annotated[bool, typer.Option("--report", help="Only show what would be lost.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write pages with their pictures in the form that another program opens."""
    with project_session() as session:
        scope = {"receiver": receiver, "scope_ids": scope_of(session, ids)}
        if report:
            found = session.post("/api/export/receivers/report", scope)
        else:
            body = {**scope, "output_path": full_path(out), "overwrite": overwrite}
            found = session.post("/api/export/receivers", body)

    def words() -> None:
        done = "Would write" if report else "Wrote"
        where = "" if report else f" to {found['output_path']}"
        typer.echo(f"{done} {plural(found['pages'], 'page')} for {found['receiver']}{where}.")
        say_makers(found["made"])
        for line in _draw_losses(found["losses"], found["pages"]):
            typer.echo(line)
        for one in found["left_out"][:NAMED]:
            typer.echo(f"  left out: {one['document_id']}. {one['why']}", err=True)
        for problem in found["problems"]:
            typer.echo(f"  problem: {problem}", err=True)
        _say_withheld(found)

    answer(found, words)


def _draw_losses(pages: list[dict[str, Any]], count: int) -> list[str]:
    """Print a line for each loss, the most widespread first: a bar for the share of affected pages, how
    often, and why.
    """
    there: Counter[tuple[str, str]] = Counter()
    in_all: Counter[tuple[str, str]] = Counter()
    for page in pages:
        there.update({(loss["what"], loss["why"]) for loss in page["losses"]})
        for loss in page["losses"]:
            in_all[loss["what"], loss["why"]] += loss["count"]
    if not there:
        return ["  nothing would be lost."] if count else []
    width = min(max(len(what) for what, _ in there), 40)
    drawn = ["  lost:"]
    for (what, why), number in sorted(there.items(), key=lambda one: (-one[1], one[0])):
        filled = max(1, round(BAR * number / count))
        bar = "█" * filled + "░" * (BAR - filled)
        share = f"{number} of {plural(count, 'page')}"
        drawn.append(f"  {what:<{width}} {bar} {share}, {in_all[what, why]} in all: {why}.")
    return drawn


def keep_export(
    format_name: Annotated[str, typer.Argument(metavar="FORMAT", help=", ".join(FORMATS))],
    folder: Annotated[Path, typer.Argument(help="An existing folder outside the project.")],
    per_document: Annotated[
        bool, typer.Option("--per-document", help="Write one file per document instead of per page.")
    ] = False,
) -> None:
    """Keep an export in a folder: it is written now and updated as the work changes. The folder is never read
    back.
    """
    per = "document" if per_document else "page"
    body = {"folder": full_path(str(folder)), "format": format_name, "per": per}
    with project_session() as session:
        begun = session.post("/api/export/kept", body)
        follow_job(session, begun["job_id"], "Write")
    answer(
        begun,
        f"Kept up to date in {begun['folder']} from now on. To see what it wrote: armarium kept-exports",
    )


def kept_exports(
    write: Annotated[bool, typer.Option("--write", help="Write all of them now.")] = False,
    end: Annotated[str | None, typer.Option("--end", metavar="ID", help="Stop keeping this one.")] = None,
) -> None:
    """List the kept exports and what each wrote."""
    with project_session() as session:
        if end is not None:
            session.delete(f"/api/export/kept/{end}")
        found = session.get("/api/export/kept")
        if write:
            for one in found["exports"]:
                follow_job(session, session.post(f"/api/export/kept/{one['id']}/write")["job_id"], "Write")
            found = session.get("/api/export/kept")

    def words() -> None:
        if not found["exports"]:
            typer.echo("There is no kept export; create one with armarium keep-export FORMAT FOLDER.")
        for one in found["exports"]:
            typer.echo(f"{one['id']}: {one['format']} per {one['per']} in {one['folder']}")
            typer.echo(f"  {plural(len(one['files']), 'file')}, {one['pending']} to be written again")
            for other in one["in_the_way"][:NAMED]:
                typer.echo(f"  not touched: {other['path']}. {other['why']}", err=True)
            for other in one["left_behind"][:NAMED]:
                typer.echo(f"  no longer updated: {other['path']}; remove it by hand.", err=True)

    answer(found, words)
