"""`armarium models`: the models trained here; published models downloaded after a yes, and models taken from disk."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Session,
    Topic,
    answer,
    engine_session,
    follow_job,
    full_path,
    percent,
    plural,
    project_session,
    result_of,
    table,
)


class NamesOrCommands(typer.core.TyperGroup):
    """A group whose command `show` may be left out: `armarium models NAME` shows that model."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `show` before a name."""
        is_named = bool(args) and not args[0].startswith("-")
        return super().parse_args(ctx, ["show", *args] if is_named and args[0] not in self.commands else args)


commands = Commands(Topic.lines)
group = commands.group(
    "models", "Models trained here, published ones, and models from disk.", example="models"
)
group.info.cls = NamesOrCommands


@group.callback()
def models(context: typer.Context) -> None:
    """List the models trained here. Commands below show one, download one, or take one from disk."""
    if context.invoked_subcommand is not None:
        return
    with project_session() as session:
        listed = session.get("/api/training/models")

    def words() -> None:
        if not listed["items"]:
            typer.echo("No model has been trained here yet: armarium train trains a reader on a hand.")
            return
        rows = [
            [model["id"], model["name"], model["trained_at"] or "", _cer_of(model), model["location"]]
            for model in listed["items"]
        ]
        table("Trained models", ["model", "name", "trained", "CER", "where"], rows)

    answer(listed, words)


@group.example("show linereader-trained-ID")
def show(
    model: Annotated[str, "A model that was trained here."],
    make_global: Annotated[bool, "Copy it to the engine's store for all projects."] = False,
) -> None:
    """Show a model that was trained here, with its whole card."""
    with project_session() as session:
        if make_global:
            outcome = session.act("training.make_model_global", {"model": model})["result"]
            answer(outcome, lambda: typer.echo(f"{outcome['model_id']} is now available to all projects."))
            return
        details = session.get("/api/training/model", model=model)
        answer(details, lambda: _show(details))


@group.example("get kraken-ppocrv6-small")
def get(
    name: Annotated[str | None, "NAME: A published model by name or DOI; left out: list them."] = None,
    yes: Annotated[bool, "Download it without asking."] = False,
) -> None:
    """Show a published model (size, licence, source, authors, what it reads) and download it after a yes."""
    with engine_session() as session:
        offered = session.get("/api/local-models/offers")
        if name is None:
            answer(offered, lambda: _list_offers(offered["items"]))
            return
        offer = next((item for item in offered["items"] if name in (item["model_id"], item["doi"])), None)
        if offer is None:
            names = ", ".join(item["model_id"] for item in offered["items"])
            raise Refused(f"No published model is called {name}. There are: {names}.")
        if offer["is_here"]:
            answer(offer, f"{offer['model_id']} is already on this machine. {_use(offer)}")
            return
        _tell_offer(offer)
        if not yes and not _says_yes(offer):
            answer({**offer, "downloaded": False}, "Nothing was downloaded.")
            return
        params = {"runtime": offer["model_type"], "model": offer["model_id"]}
        outcome = _follow(session, session.act("model.download", params)["result"], "Download")

    def words() -> None:
        typer.echo(f"{offer['model_id']} is on this machine now.")
        pinned = {file["name"]: file["sha256"] for file in offer["files"]}
        for file, digest in outcome.get("sha256", {}).items():
            first = "" if pinned.get(file) else " (first download: from now on only this file is taken)"
            typer.echo(f"  {file} SHA-256 {digest}{first}")
        typer.echo(_use(offer))

    answer({**offer, **outcome, "downloaded": True}, words)


@group.example("add /data/models/my-model")
def add(
    file: Annotated[Path, "The model as ONNX with its dict.txt beside it, or the folder of both."],
    name: Annotated[str | None, "The name under which it is kept."] = None,
) -> None:
    """Take in a line recogniser from disk: its graph, its alphabet (dict.txt) and, if there is one, its card.json."""
    with engine_session() as session:
        params = {"path": full_path(str(file)), **({"name": name} if name else {})}
        started = session.act("model.add", params)["result"]
        outcome = _follow(session, started, "Take in")
    answer({**outcome, **started}, f"{started['model_id']} is on this machine now. {_use(started)}")


def _follow(session: Session, started: dict[str, Any], what: str) -> dict[str, Any]:
    if started["job_id"] is None:
        return {}
    follow_job(session, started["job_id"], what)
    return result_of(session, started["job_id"])


def _says_yes(offer: dict[str, Any]) -> bool:
    if not sys.stdin.isatty():
        raise Refused(
            f"Downloading {offer['model_id']} needs a yes, and nobody can be asked here. Say --yes."
        )
    return typer.confirm("Download it?", err=True)


def _use(model: dict[str, Any]) -> str:
    reader = model.get("reader", model["model_type"])
    return f"Read with it: armarium read --reader {reader} --model {model['model_id']}"


def _tell_offer(offer: dict[str, Any]) -> None:
    """Say what would be downloaded; on standard error, since an answer may be JSON."""
    size, cer = offer["size_bytes"] / 1e6, offer["cer"]
    rows = [
        ("model", f"{offer['title']} ({offer['doi']})"),
        ("size", f"about {size:.0f} MB"),
        ("licence", offer["licence"]),
        ("authors", offer["authors"]),
        ("source", offer["page"]),
        ("reads", offer["reads"]),
        ("error rate", f"{cer:.1%} of the characters, as its authors state" if cer else ""),
        ("file", "" if offer["files"] else "named by the source, with the checksum that it must have"),
    ]
    for label, text in rows:
        if text:
            typer.echo(f"{label + ':':<12}{text}", err=True)
    for file in offer["files"]:
        digest = file["sha256"] or "unknown here; it is pinned at this download"
        typer.echo(f"{'file:':<12}{file['url']}\n{'SHA-256:':<12}{digest}", err=True)


def _list_offers(items: list[dict[str, Any]]) -> None:
    rows = [
        [
            offer["model_id"],
            f"{offer['size_bytes'] / 1e6:.0f} MB",
            offer["licence"],
            "here" if offer["is_here"] else "",
        ]
        for offer in items
    ]
    table("Published models", ["model", "size", "licence", ""], rows)
    typer.echo("See one and download it: armarium models get NAME")


def _cer_of(model: dict[str, Any]) -> str:
    """Return how it was measured on pages held out; what training reports of its own validation is not a measurement."""
    return percent((model["scores"] or {}).get("cer", {}).get("diplomatic")) or "unmeasured"


def _show(model: dict[str, Any]) -> None:
    for name in ("id", "name", "kind", "summary", "base", "teacher", "trained_at", "location", "size_bytes"):
        if model[name] is not None:
            typer.echo(f"{name.replace('_', ' ')}: {model[name]}")
    typer.echo(f"may be given away: {'yes' if model['may_publish'] else 'no'}")
    for entry in model["evaluation_history"]:
        cer = entry.get("cer")
        rate = cer.get("diplomatic") if isinstance(cer, dict) else None
        percentage = percent(rate) if isinstance(rate, int | float) else ""
        pages = entry.get("pages")
        pages_words = plural(pages, "page") if isinstance(pages, int) else "an unknown number of pages"
        typer.echo(f"measured {entry.get('measured_at')}: {percentage} on {pages_words}")
