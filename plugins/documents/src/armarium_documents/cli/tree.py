"""Commands about the tree: import, list, show one document, move."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Session,
    Topic,
    answer,
    follow_job,
    full_path,
    place_for,
    plural,
    project_session,
    result_of,
    table,
    write_file,
)
from armarium_documents.cli.import_summary import bring_archives, is_archive, layout_results, tell
from armarium_documents.cli.layouts import read_into
from armarium_documents.cli.naming import DOCUMENT, document_id
from armarium_documents.cli.scope import documents_under, is_page
from armarium_documents.flags import FLAGS

commands = Commands(Topic.pages)

Ids = Annotated[list[str], "Documents, each by name, path or id (armarium ls shows them)."]

_FIELDS = (
    ("page_label", "label"), ("date_original", "dated"), ("date_iso", "date"), ("language", "language"),
    ("script", "script"), ("direction", "direction"), ("case_id", "case"),
)  # fmt: skip
_SUFFIXES = {
    "image/jpeg": (".jpg", ".jpeg"),
    "image/png": (".png",),
    "image/tiff": (".tif", ".tiff"),
    "image/heic": (".heic", ".heif"),
    "application/pdf": (".pdf",),
}


@commands.example("import pages", Topic.files)
def import_(
    paths: Annotated[
        list[str],
        "One folder, or files: JPEG, PNG, TIFF, WebP, JPEG 2000, BMP, GIF, AVIF, HEIC, PDF, ZIP archives of these; for a page, layout files of it.",
    ],
    into: Annotated[
        str | None, "The folder to put them in, or the page to read layout files into; default: Sources."
    ] = None,
    recursive: Annotated[bool, "--recursive/--no-recursive: Include the folder's subfolders."] = True,
    format_name: Annotated[str | None, "--format: Format of the layout files; default: recognised."] = None,
    beside: Annotated[
        list[str] | None, "--with: For a layout file: a file that it needs, such as its class names."
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            "--page",
            min=1,
            help="For a layout file: the number of the page in it; default: the first.",
        ),
    ] = None,
    again: Annotated[bool, "Also import again what is there already."] = False,
    beyond: Annotated[
        Literal["clip", "keep", "refuse"],
        "For layout files, shapes that reach beyond the page: clip them, keep also those wholly beyond it without a place of their own, or refuse the file.",
    ] = "clip",
) -> None:
    """Copy pages into the project, and read the layout files beside them into the pages they describe.

    A folder stays one, and so does a ZIP archive. What is already in its place (the same name and bytes in
    the same folder) is left alone and counted. With --into PAGE: read layout files into an existing page,
    each as a pass of its own.
    """
    for path in paths:
        if not path.strip():
            raise Refused("The path is empty; give a folder, or files.")
    places = [full_path(path) for path in paths]
    body: dict[str, Any] = {"recursive": recursive, **({"parent_id": into} if into else {})}
    if format_name is not None:
        body["format"] = format_name
    if again:
        body["again"] = True
    if beyond != "clip":
        body["beyond"] = beyond
    if len(places) == 1 and Path(places[0]).is_dir():
        body["folder"] = places[0]
    else:
        if folders := [path for path, place in zip(paths, places, strict=True) if Path(place).is_dir()]:
            raise Refused(f"{folders[0]} is a folder; import one folder at a time, or name files.")
        body["paths"] = places
    with project_session() as session:
        if into is not None:
            into = body["parent_id"] = document_id(session, into)
        if into is not None and is_page(session.get(f"/api/documents/{into}")):
            form = {"format": format_name, "pages": number, "beyond": beyond}
            read_into(session, into, places, form=form, beside=beside or [])
            return
        if beside or number:
            raise Refused("--with and --page are for a layout file of one page; name that page with --into.")
        if any(map(is_archive, places)):
            if format_name is not None or again:
                raise Refused("--format and --again do not work with archives; unpack the archive first.")
            outcome, layouts = bring_archives(session, places, into, beyond)
        else:
            started = session.post("/api/documents/import", body)
            node = follow_job(session, started["job_id"], "Import")
            outcome = {
                "job_id": started["job_id"],
                "set_id": started.get("set_id"),
                **result_of(session, started["job_id"]),
            }
            layouts = layout_results(session, node)
    if not _has_any(
        outcome, layouts, "files", "documents", "already", "passes", "mets", "refused", "unpaired", "left"
    ):
        deeper = "" if recursive else " (its own folders are not looked into)"
        raise Refused(
            f"There is nothing to import in {paths[0]}{deeper}: no picture, PDF, layout file or METS file."
        )
    answer({**outcome, **({"layouts": layouts[0]} if layouts else {})}, lambda: tell(outcome, layouts))
    # Nothing that was named is in the project: the command failed.
    if not _has_any(outcome, layouts, "files", "documents", "passes", "mets", "already"):
        raise typer.Exit(1)


def _has_any(outcome: dict[str, Any], layouts: list[dict[str, Any]], *keys: str) -> bool:
    return any(result.get(key) for result in (outcome, *layouts) for key in keys)


@commands.example("ls")
def ls(
    parent: Annotated[str | None, "PARENT: A folder by name, path or id; default: everything."] = None,
    deep: Annotated[bool, "--deep/--flat: Include subfolders."] = True,
) -> None:
    """List the documents of the project."""
    with project_session() as session:
        at = parent and document_id(session, parent)
        if at is not None:
            # An unknown id is refused even if nothing would be listed.
            session.get(f"/api/documents/{at}")
        nodes = list(documents_under(session, at, deep=deep))
    depth: dict[str | None, int] = {}
    for node in nodes:
        depth[node["id"]] = depth.get(node["parent_id"], -1) + 1
    rows = [(n["id"], _kind(n), "  " * depth[n["id"]] + n["name"], n["child_count"] or "") for n in nodes]
    answer({"items": nodes, "count": len(nodes)}, lambda: table("", ("id", "type", "name", "inside"), rows))


def _kind(node: dict[str, Any]) -> str:
    """Return the kind of a document in one word: note, alias, image, else its type."""
    if node["node_kind"] != "document":
        return str(node["node_kind"]).replace("_", " ")
    return str(node.get("file_type") or node["doc_type"])


@commands.example("show 0001.jpg")
def show(
    document: Annotated[str, "The document by name, path or id (armarium ls shows them)."],
    picture: Annotated[Path | None, "Write the document's picture to this file."] = None,
    overwrite: Annotated[bool, "Overwrite an existing file."] = False,
) -> None:
    """Show one document: where it is, its description, its pictures and what is attached to it."""
    with project_session() as session:
        identity = document_id(session, document)
        view = session.get(f"/api/documents/{identity}/view", limit=1)
        try:
            described = session.get(f"/api/documents/{identity}/effective-attributes")
        except Refused as refused:
            # The chain of its prototype is broken: everything else can still be shown.
            described = {
                "values": view["document"]["attributes"],
                "declarations": [],
                "unresolved": str(refused),
            }
        picture_path = _write_picture(session, view, picture, overwrite) if picture is not None else None
    details = {**view, "described": described, **({"picture": picture_path} if picture_path else {})}
    # The view requires a limit of at least one child.
    details.pop("children")
    answer(details, lambda: _show(details, picture_path))


def _write_picture(session: Session, view: dict[str, Any], place: Path, overwrite: bool) -> str:
    node = view["document"]
    primary = next(
        (rendition for rendition in view["attachments"]["renditions"] if rendition["is_primary"]), None
    )
    if primary is None:
        raise Refused(
            f"{node['name']} has no picture; armarium ls shows which documents are images or pages."
        )
    suffixes = _SUFFIXES.get(primary["mime_type"], ())
    if suffixes and place.suffix.lower() not in suffixes:
        raise Refused(f"The picture is {primary['mime_type']}; give a file name that ends in {suffixes[0]}.")
    place_for(place, overwrite=overwrite)
    content = session.raw("GET", f"/api/documents/{node['id']}/renditions/{primary['id']}/content")
    write_file(place, content, overwrite=overwrite)
    return str(place)


def _show(details: dict[str, Any], picture_path: str | None) -> None:
    node, hanging = details["document"], details["attachments"]
    typer.echo("/".join([*(above["name"] for above in details["ancestors"]), node["name"]]))
    kind = _kind(node) + (f", {node['prototype_key']}" if node["prototype_key"] else "")
    typer.echo(f"  {node['id']}  {kind}")
    if node["deleted_at"]:
        typer.echo(f"  in the Trash since {node['deleted_at']}; armarium restore {node['id']} brings it back")
    for name, word in _FIELDS:
        if node.get(name):
            typer.echo(f"  {word}: {node[name]}")
    flags = [name.removeprefix("is_").replace("_", " ") for name in ("is_locked", *FLAGS) if node[name]]
    if flags:
        typer.echo(f"  {', '.join(flags)}")
    _show_attributes(details["described"])
    proposed = (node["metadata"].get("proposed_attributes") or {}).get("prototype")
    if proposed:
        typer.echo(
            f"  proposed as: {proposed.get('value') or proposed.get('prototype_key')}, waiting for a person"
        )
    if node["page_content"]:
        typer.echo(f"  text: {_shorten(node['page_content'])}")
    for rendition in hanging["renditions"]:
        size = (
            f"{rendition['pixel_width']} × {rendition['pixel_height']} pixels"
            if rendition["pixel_width"]
            else "size not known"
        )
        typer.echo(
            f"  picture: {rendition['role']}, {size}, {rendition['mime_type']}{', primary' if rendition['is_primary'] else ''}"
        )
    for noun, number in (
        ("inside", details["children_total"]),
        ("artifacts", len(hanging["artifacts"])),
        ("annotations", hanging["annotation_count"]),
        ("entities", hanging["entity_count"]),
    ):
        if number:
            typer.echo(f"  {noun}: {number}")
    if picture_path:
        typer.echo(f"Wrote {picture_path}.")


def _show_attributes(described: dict[str, Any]) -> None:
    labels = {declared["key"]: declared["label"] for declared in described["declarations"]}
    own = set(described.get("own_keys", described["values"]))
    for key, value in described["values"].items():
        if value is not None:
            typer.echo(f"  {labels.get(key, key)}: {_shorten(value)}{'' if key in own else ' (by its kind)'}")
    if described.get("unresolved"):
        typer.echo(f"  its kind cannot be resolved: {described['unresolved']}")


def _shorten(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    words = ", ".join(map(_shorten, value)) if isinstance(value, list) else str(value)
    words = " ".join(words.split())
    return words if len(words) <= 100 else f"{words[:97]}…"


@commands.example("folder 'Box 3' --in Sources")
def folder(
    name: Annotated[str, "What it is called."],
    inside: Annotated[
        str | None, "--in: The folder it lies in, by name, path or id; default: the top.", DOCUMENT
    ] = None,
) -> None:
    """Make a folder."""
    with project_session() as session:
        at = inside and document_id(session, inside)
        node = session.post("/api/documents", {"name": name, "parent_id": at})
    inside_words = f" in {inside}" if inside else ""
    answer(
        node,
        f"Made the folder {node['name']}{inside_words}. Take it back with: armarium undo {node['audit_id']}",
    )


@commands.example("move 0001.jpg 0002.jpg --to Letters")
def move(
    documents: Ids,
    to: Annotated[str | None, "The folder to move them into."] = None,
    top: Annotated[bool, "Out of every folder, to the top."] = False,
    after: Annotated[str | None, "The document to place them after."] = None,
    first: Annotated[bool, "Place them before everything else there."] = False,
) -> None:
    """Move documents into another folder, or to another place among their siblings (default: last)."""
    if (to is not None) == top:
        raise Refused("Give --to FOLDER (the folder they are in, to reorder them there) or --top.")
    if after is not None and first:
        raise Refused("Give either --after or --first, not both.")
    with project_session() as session:
        at = to and document_id(session, to)
        body: dict[str, Any] = {
            "ids": [document_id(session, document) for document in documents],
            "parent_id": at,
        }
        if first or after is not None:
            body["after_id"] = after and document_id(session, after)
        moved = session.post("/api/documents/move", body)
        folder_name = "the top" if to is None else session.get(f"/api/documents/{at}")["name"]
    words = f"Moved {plural(len(moved['ids']), 'document')} to {folder_name}."
    answer(moved, f"{words} Take it back with: armarium undo {moved['audit_id']}")
