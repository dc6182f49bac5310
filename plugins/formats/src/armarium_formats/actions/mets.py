"""Uses a METS file: sets the order and labels of imported pages, and stores the rest with their folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from armarium.api import ActionContext, Engine, Invalid, Library, action, new_id, raw_of
from armarium_documents.api import (
    arrange_pages,
    document,
    find_node,
    folder_above,
    label_pages,
    pages_under,
    require_all_live,
)
from armarium_formats.mets.reader import Mets, read_mets
from armarium_formats.models import mets_files
from armarium_formats.opening import digest_of
from armarium_formats.queries.mets import mets_known, says_nothing_new
from armarium_formats.schemas.mets import PlacedPage, UsedMets, UseMets

NAMED = 20
"""Missing files that are named in a note."""


def _read_before(engine: Engine, library: Library | None, p: UseMets) -> None:
    assert library is not None
    p.hand_over(read_mets(p.data, p.filename))
    library.objects.put_bytes(p.data)


@action(
    "ingest.mets",
    result=UsedMets,
    summary="Use a METS file: its order and labels for the pages, and its other contents stored with their folder.",
    words="Applied a METS file to {|pages}",
    prepare=_read_before,
)
def use_mets(ctx: ActionContext, p: UseMets) -> dict[str, Any]:
    """The same file is stored once per folder. Pages placed by hand and existing labels are kept; both are
    noted.

    Raises NotFound for an unknown document, Conflict for one in the Trash, Invalid for a file that is not
    METS, for a page that it does not have and for pages without a common folder, Forbidden by a lock.
    """
    mets: Mets = p.groundwork or read_mets(p.data, p.filename)
    numbers = {page.number for page in p.pages}
    if max(numbers) > len(mets.pages):
        raise Invalid(
            f"{p.filename} has {len(mets.pages)} pages, so there is no page {max(numbers)}.",
            code="no_such_page",
        )
    placed: dict[int, list[str]] = {number: [] for number in sorted(numbers)}
    for page in p.pages:
        placed[page.number] += [
            identity for identity in page.document_ids if identity not in placed[page.number]
        ]
    ids = list(dict.fromkeys(identity for document_ids in placed.values() for identity in document_ids))
    require_all_live(ctx.conn, ids)
    folder = folder_above(ctx.conn, ids)
    if folder is None:
        raise Invalid("No folder contains all of these pages; put them into one first.", code="no_folder")
    ctx.refuse_locked(folder, *ids)
    ctx.project.objects.put_bytes(p.data)
    labels: dict[str, str] = {}
    for number, document_ids in placed.items():
        for identity in document_ids if mets.pages[number - 1].label else ():
            labels.setdefault(identity, mets.pages[number - 1].label)
    labelled, labelled_otherwise = label_pages(ctx, labels)
    ordered, placed_by_hand = arrange_pages(ctx, ids)
    notes = _notes(mets, placed, p.missing, labelled_otherwise, placed_by_hand)
    description = mets.description
    _describe_folder(ctx, folder, ids, description.as_metadata())
    kept_counts = Counter(description.beyond)
    kept_counts["parts of the logical structure"] = description.parts_count
    kept_counts["fields of the description"] = len(description.fields)
    counts = [{"what": what, "count": count} for what, count in sorted((+kept_counts).items())]
    pages = [
        {"number": number, "label": mets.pages[number - 1].label, "document_ids": document_ids}
        for number, document_ids in placed.items()
    ]
    digest = digest_of(p.data)
    earlier = mets_known(raw_of(ctx.conn), folder, digest)
    mets_id = earlier or new_id()
    if earlier is not None:
        changes = {"pages": pages, "notes": notes}
        ctx.conn.execute(mets_files.update().where(mets_files.c.id == earlier).values(changes))
    else:
        ctx.conn.execute(
            mets_files.insert().values(
                id=mets_id,
                document_id=folder,
                filename=p.filename,
                original=digest,
                title=description.title or None,
                described={
                    "label": description.label,
                    "type": description.kind,
                    "identifier": description.identifier,
                    "fields": description.fields,
                },
                pages=pages,
                parts=description.parts,
                kept_counts=counts,
                notes=notes,
                created_at=ctx.now,
            )
        )
    ctx.target(mets_id, folder)
    ctx.note_changes(document_ids=[folder])
    return {
        "mets_id": mets_id,
        "document_id": folder,
        "file": p.filename,
        "title": description.title,
        "pages": len(mets.pages),
        "pictured": len(placed),
        "labelled": labelled,
        "ordered": ordered,
        "fields": description.fields,
        "kept": counts,
        "notes": notes,
    }


def use_mets_once(
    ctx: ActionContext, p: UseMets, pages: Sequence[tuple[int, Sequence[str]]], is_new: Callable[[str], bool]
) -> dict[str, Any] | None:
    """Run `ingest.mets` for these pages within another step; None if the file is already stored with their
    folder and no page *is_new*: then later changes by people are kept.
    """
    here = [(number, list(ids)) for number, ids in pages if ids]
    ids = [identity for _, document_ids in here for identity in document_ids]
    if not ids:
        raise Invalid(f"None of the pictures of {p.filename} was imported.", code="no_pages")
    if says_nothing_new(ctx.conn, digest_of(p.data), ids, is_new):
        return None
    placed = [PlacedPage(number=number, document_ids=document_ids) for number, document_ids in here]
    with ctx.conn.begin_nested():
        answer: dict[str, Any] = ctx.run("ingest.mets", p.model_copy(update={"pages": placed}))
    return answer


def _describe_folder(ctx: ActionContext, folder: str, ids: Sequence[str], metadata: dict[str, Any]) -> None:
    """Give the folder the file's description of the work where it has none; not Sources, nor a folder that
    also contains pages of something else.
    """
    if not set(pages_under(ctx.conn, [folder])) <= set(pages_under(ctx.conn, ids)):
        return
    current = document(ctx.conn, folder)
    node = find_node(ctx.conn, folder)
    new = {name: value for name, value in metadata.items() if name not in current["source_metadata"]}
    if new and node is not None and node.system_key is None:
        ctx.run(
            "document.update",
            {"document_id": folder, "source_metadata": {**current["source_metadata"], **new}},
        )


def _notes(
    mets: Mets, placed: dict[int, list[str]], missing: list[str], labelled_otherwise: int, placed_by_hand: int
) -> list[str]:
    notes = list(mets.notes)
    without = [page.order for page in mets.pages if page.order not in placed]
    if without:
        listed = ", ".join(map(str, without[:NAMED])) + (" …" if len(without) > NAMED else "")
        notes.append(f"{len(without)} of its {len(mets.pages)} pages have no picture here: {listed}.")
    if missing:
        listed = ", ".join(missing[:NAMED]) + (" …" if len(missing) > NAMED else "")
        notes.append(f"{len(missing)} files that it names were not included: {listed}.")
    if mets.unplaced:
        notes.append(f"{len(mets.unplaced)} files that it names belong to none of its pages.")
    if labelled_otherwise:
        notes.append(f"{labelled_otherwise} pages have another label here, which is kept.")
    if placed_by_hand:
        notes.append(
            f"{placed_by_hand} pages stay where they are, because somebody placed some of them by hand."
        )
    return notes
