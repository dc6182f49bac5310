"""Commands of images: crop, split, undo of both; enhanced renditions."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Session,
    Topic,
    answer,
    follow_job,
    name_each,
    plural,
    project_session,
)
from armarium_documents.commandline import DOCUMENT, Scope, document_id

commands = Commands(Topic.pages)

_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*")
_BOX = "LEFT,TOP,WIDTH,HEIGHT"

Recursive = Annotated[bool, "--recursive, -r: For a folder: include its subfolders."]


@commands.example("crop 0001.jpg --box 10%,5%,80%,90%")
def crop(
    pictures: Annotated[
        list[str], "Images or pages, or one folder for all its pictures, by name, path or id."
    ],
    box: Annotated[
        str,
        typer.Option(
            metavar=_BOX, help="What to cut out: pixels, or parts of the picture as 10%,5%,80%,90%."
        ),
    ],
    recursive: Recursive = False,
) -> None:
    """Cut the same rectangle out of pictures; each result becomes a child of its source, which is unchanged."""
    region = region_of(box)
    with project_session() as session:
        pictures = [document_id(session, picture) for picture in pictures]
        folder = _folder(session, pictures)
        if folder is not None:
            _batch(session, folder, {"kind": "crop", "region": region}, recursive)
            return
        _refuse_recursive(recursive)
        cut = session.post("/api/images/crops/batch", {"document_ids": pictures, "region": region})

    def words() -> None:
        _tell(cut["children"])
        for failure in cut["failed"]:
            typer.echo(f"  not cut: {failure['document_id']}: {failure['why']}")
        typer.echo(f"Take it back with: armarium undo {cut['audit_id']}")

    if not cut["children"]:
        first = cut["failed"][0]
        more = f" {len(cut['failed']) - 1} more could not be cut either." if len(cut["failed"]) > 1 else ""
        raise Refused({"detail": f"{first['why']}{more}", **cut})
    answer(cut, words)


@commands.example("split 0001.jpg --at 48%")
def split(
    pictures: Annotated[list[str], "Images or pages, or a folder for all its pictures, by name, path or id."],
    columns: Annotated[int, typer.Option(min=1, max=64, help="Equal parts side by side.")] = 1,
    rows: Annotated[int, typer.Option(min=1, max=64, help="Equal parts one below the other.")] = 1,
    at: Annotated[str | None, "--at PERCENT: Two parts side by side, cut here: 48%."] = None,
    box: Annotated[
        list[str] | None,
        typer.Option(metavar=_BOX, help="One part, as 0%,0%,48%,100%; twice or more, without overlap."),
    ] = None,
    recursive: Recursive = False,
) -> None:
    """Split pictures into parts, such as two facing pages; each part becomes a child of its source."""
    regions = regions_of(columns, rows, at, box or [])
    answers: list[dict[str, Any]] = []
    with project_session() as session:
        pictures = [document_id(session, picture) for picture in pictures]
        folder = _folder(session, pictures)
        if folder is not None:
            _batch(session, folder, {"kind": "split", "regions": regions}, recursive)
            return
        _refuse_recursive(recursive)
        for picture in pictures:
            try:
                answers.append(session.post(f"/api/images/{picture}/split", {"regions": regions}))
            except Refused as refused:
                if not answers:
                    raise
                before = " " + plural(
                    len(answers), "picture named before it stays", "pictures named before it stay"
                )
                raise Refused(
                    {**refused.body, "detail": f"{refused}{before} split.", "split": answers}
                ) from refused

    def words() -> None:
        for cut in answers:
            _tell(cut["children"])
            for left_out in cut["left_out"]:
                typer.echo(f"  {left_out['why']}", err=True)
            typer.echo(f"Take it back with: armarium undo {cut['audit_id']}")

    answer({"items": answers, "count": len(answers)}, words)


GONE = "{removed_ids:picture} went to the Trash. Restore them with: armarium undo {audit_id}"


@commands.asks("uncrop 0001.jpg", "POST /api/images/{picture}/uncrop", says=GONE)
def uncrop(
    picture: Annotated[str, "A picture (all its crops) or one crop, by name, path or id.", DOCUMENT],
) -> None:
    """Remove crops: they go to the Trash."""


@commands.asks("unsplit 0001.jpg", "POST /api/images/{picture}/unsplit", says=GONE)
def unsplit(
    picture: Annotated[str, "A picture that was split, or one of its parts, by name, path or id.", DOCUMENT],
) -> None:
    """Remove the parts of a split: they go to the Trash."""


class Treatment(StrEnum):
    """The kinds of renditions that can be made."""

    enhanced = "enhanced"
    background_removed = "background-removed"
    binarised = "binarised"


def _say_made(outcome: dict[str, Any]) -> None:
    have = plural(outcome["pictures"], "picture has one", "pictures have one")
    typer.echo(f"{outcome['role'].value.capitalize()}: {have} now.")
    name_each("not done", outcome, "failed", lambda child: f"{child['document_id']}: {child['why']}")
    if outcome["pictures"]:
        typer.echo(f"Take it back with: armarium undo {outcome['job_id']}")


@commands.asks("enhance 0001.jpg --make binarised", "act image.treat", follows="Enhance", says=_say_made)
def enhance(
    scope_ids: Scope = None,
    role: Annotated[
        Treatment, "--make: Even light and more contrast; paper removed; ink only."
    ] = Treatment.enhanced,
    contrast: Annotated[
        float, typer.Option(min=1, max=8, help="How far `enhanced` lifts local contrast.")
    ] = 2.0,
) -> None:
    """Make a rendition of each picture; the original stays the primary one."""


def region_of(box: str) -> dict[str, Any]:
    """Parse *box* into a rectangle in pixels or fractions; Refused if it is not one."""
    parts = [_NUMBER.fullmatch(part) for part in box.split(",")]
    if len(parts) != 4 or not all(parts):
        raise Refused(f"{box!r} is not a rectangle: write {_BOX}, four numbers of pixels or four with %.")
    numbers = [float(part[1]) for part in parts if part]
    percent = {bool(part[2]) for part in parts if part}
    if len(percent) > 1:
        raise Refused(f"{box!r} mixes pixels and %; use one of them for all four numbers.")
    names = ("left", "top", "width", "height")
    if percent == {True}:
        fractions = [number / 100 for number in numbers]
        return {**dict(zip(names, fractions, strict=True)), "unit": "fraction"}
    if any(number != math.floor(number) for number in numbers):
        raise Refused(
            f"{box!r} has fractions of pixels; use whole numbers, or % for fractions of the picture."
        )
    return {**dict(zip(names, map(int, numbers), strict=True)), "unit": "pixel"}


def regions_of(columns: int, rows: int, at: str | None, boxes: list[str]) -> list[dict[str, Any]]:
    """Return the parts of a split from whichever option is given; Refused for none or for two."""
    if (columns > 1 or rows > 1) + (at is not None) + bool(boxes) != 1:
        raise Refused("Give one of --columns, --rows, --at 48%, or --box twice or more.")
    if boxes:
        regions = [region_of(box) for box in boxes]
        if any(region["unit"] == "pixel" for region in regions):
            raise Refused("The parts of a split are named in %, as 0%,0%,48%,100%.")
        return [
            {"bbox": [region["left"], region["top"], region["width"], region["height"]]} for region in regions
        ]
    if at is not None:
        number = _NUMBER.fullmatch(at)
        cut = float(number[1]) / 100 if number else 0.0
        if not 0 < cut < 1:
            raise Refused(f"{at!r} is not a position between 0% and 100% of the width.")
        return [{"bbox": [0.0, 0.0, cut, 1.0]}, {"bbox": [cut, 0.0, 1.0 - cut, 1.0]}]
    return [
        {"bbox": [column / columns, row / rows, 1 / columns, 1 / rows]}
        for row in range(rows)
        for column in range(columns)
    ]


def _folder(session: Session, ids: list[str]) -> str | None:
    """Return the folder that is meant, or None for pictures; Refused for a folder among others."""
    kinds = {identity: session.get(f"/api/documents/{identity}")["doc_type"] for identity in ids}
    folders = [node_id for node_id, kind in kinds.items() if kind in ("folder", "group")]
    if folders and len(ids) > 1:
        raise Refused("Name one folder, or pictures; not a folder among others.")
    return folders[0] if folders else None


def _refuse_recursive(recursive: bool) -> None:
    if recursive:
        raise Refused("--recursive is for a folder; these are pictures.")


def _batch(session: Session, folder: str, spec: dict[str, Any], recursive: bool) -> None:
    begun = session.post(
        "/api/images/batch-apply", {"folder_id": folder, "recursive": recursive, "spec": spec}
    )
    follow_job(session, begun["job_id"], spec["kind"].capitalize())
    batch = session.get(f"/api/images/batch-apply/{begun['batch_id']}")
    done = [item for item in batch["items"] if item["state"] == "done"]
    not_done = [item for item in batch["items"] if item["state"] != "done"]
    children = sum(len(item["child_ids"]) for item in done)

    def words() -> None:
        typer.echo(f"{plural(len(done), 'picture')} cut, {plural(children, 'part')} made.")
        for item in not_done:
            typer.echo(f"  {item['state']}: {item['document_id']}: {item['reason'] or ''}")
        if done:
            typer.echo(f"Take it back with: armarium undo {begun['job_id']}")

    answer({**batch, "audit_id": begun["audit_id"]}, words)


def _tell(children: list[dict[str, Any]]) -> None:
    for child in children:
        typer.echo(f"  {child['id']}  {child['name']}")
