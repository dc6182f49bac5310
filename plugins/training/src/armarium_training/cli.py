"""The commands of training: train a reader on a hand, measure readers, list trained models."""

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
    carry_out,
    follow_job,
    percent,
    plural,
    project_session,
    table,
    write_file,
)
from armarium_documents.commandline import Scope, document_id, scope_of
from armarium_training.cli_models import commands as models_commands
from armarium_training.report import evaluation_report, sparkline, training_report, words_of_set

commands = Commands(Topic.lines)
commands.include(models_commands)

BASE = "hand-base"
Report = Annotated[Path | None, "Write a report to this self-contained HTML file."]
HoldOut = Annotated[list[str] | None, "A page to leave out of the training and measure on. May be repeated."]


def _train(
    session: Session, action: str, ids: list[str] | None, hold_out: list[str] | None, **options: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train on the scope without the pages that are held out; return the training and the answer of the command."""
    params = {
        "scope_ids": scope_of(session, ids),
        "held_out_ids": [document_id(session, page) for page in hold_out or ()],
        **{name: value for name, value in options.items() if value not in (None, "")},
    }
    outcome = carry_out(session, f"training.{action}", params, "Train")
    training = session.get(f"/api/training/jobs/{outcome['job_id']}")
    return training, {**outcome, "curve": training["curve"]}


@commands.example("train Letters --teacher hand --hold-out 0009.jpg")
def train(
    ids: Scope = None,
    teacher: Annotated[
        str, "Whose lines to train on, with your corrections: a reader, a model, a pass, or a format (alto)."
    ] = "hand",
    base: Annotated[str, "The model to start from; an empty string: from scratch."] = BASE,
    hold_out: HoldOut = None,
    name: Annotated[str | None, "The name of the reader."] = None,
    epochs: Annotated[int | None, "Default: until it stops improving."] = None,
    batch_size: Annotated[int, "How many lines are trained on together."] = 4,
    report: Report = None,
) -> None:
    """Train a reader on this machine, on lines that were read and corrected."""
    with project_session() as session:
        training, outcome = _train(
            session, "start_here", ids, hold_out,
            teacher=teacher, batch_size=batch_size, base=base, display_name=name, epochs=epochs,
        )  # fmt: skip
        model = session.get("/api/training/model", model=training["reader_id"])
        left_out = words_of_set(
            training["training_set"], lambda page: str(session.get(f"/api/documents/{page}")["name"])
        )
        if report is not None:
            write_file(report, training_report(training, model).encode(), overwrite=True)

    def words() -> None:
        rates = [point["cer"] for point in training["curve"]]
        lines = plural(training["training_set"]["lines"], "line")
        typer.echo(f"Trained {training['reader_id']} on {lines}, {plural(len(rates), 'epoch')}.")
        typer.echo(
            f"  {sparkline(rates)}  error rate on the lines that chose the best epoch: {min(rates):.1%}"
        )
        typer.echo("  It is not a measure of other pages: armarium evaluate reads pages that were held out.")
        for line in left_out:
            typer.echo(f"  {line}")
        reader = next((runner["build"] for runner in model["runs_on"] if runner["here"]), "hand")
        typer.echo(f"  Read with it: armarium read --reader {reader} --model {training['reader_id']}")
        if report is not None:
            typer.echo(f"  Report: {report}")

    answer(outcome, words)


@commands.example("train-regions Charters --hold-out 0009.jpg")
def train_regions(
    ids: Scope = None,
    hold_out: HoldOut = None,
    base: Annotated[str | None, "The layout detector to start from; default: from scratch."] = None,
    name: Annotated[str | None, "The name of the detector."] = None,
    epochs: Annotated[int, "The largest number of epochs; it ends sooner when it stops improving."] = 50,
    image_size: Annotated[int, "Side in pixels to which pages are scaled."] = 960,
) -> None:
    """Train a layout detector on this machine, on regions that you drew or changed."""
    with project_session() as session:
        training, outcome = _train(
            session, "start_regions_here", ids, hold_out,
            epochs=epochs, image_size=image_size, base=base, display_name=name,
        )  # fmt: skip
        scores = session.get("/api/training/model", model=training["model_id"])["scores"]

    def words() -> None:
        regions = plural(training["training_set"]["regions"], "region")
        precisions = [point["map50"] for point in training["curve"]]
        typer.echo(f"Trained {training['model_id']} on {regions}, {plural(len(precisions), 'epoch')}.")
        typer.echo(f"  {sparkline(precisions)}  best mAP50 on validation pages: {max(precisions):.2f}")
        if scores is not None:
            typer.echo(f"  mAP50 on the held-out pages: {scores['map50']:.2f}")
        typer.echo(
            f"  Use it: armarium action layout.find_regions --model {training['model_id']} --scope-ids PAGE"
        )

    answer(outcome, words)


@commands.example("train-vision Letters --base owner/model-8B --pages-may-leave")
def train_vision(
    ids: Scope = None,
    teacher: Annotated[
        str, "Whose lines to train on, with your corrections: a reader, a model, a pass, or a format (alto)."
    ] = "hand",
    base: Annotated[str, "A vision model on this machine by its name, or owner/model at the model hub."] = "",
    hold_out: HoldOut = None,
    name: Annotated[str, "The name of the student."] = "student",
    arm: Annotated[str, "What it is taught to answer: answer, why, thinking or review."] = "answer",
    epochs: Annotated[int, "How often each line is trained on."] = 2,
    flavor: Annotated[
        str | None, "The machine class at the hub. Default: this machine, for a model that is on it."
    ] = None,
    pages_may_leave: Annotated[bool, "Allow pictures of lines to be sent to the model hub."] = False,
) -> None:
    """Train a vision model on lines that were read and corrected, here or at the model hub."""
    if not base:
        raise Refused("Name the model to start from with --base.")
    with project_session() as session:
        training, outcome = _train(
            session, "start_vision_lora", ids, hold_out,
            teacher=teacher, base_repo=base, name=name, arm=arm, epochs=epochs, pages_may_leave=pages_may_leave,
            flavor=flavor or (None if "/" in base else "local"),
        )  # fmt: skip

    def words() -> None:
        typer.echo(f"Trained {training['model_id']}, {plural(len(training['curve']), 'epoch')}.")
        model_name = str(training["model_id"]).replace("/", "--")
        typer.echo(f"  Read with it: armarium read --reader vision --model {model_name}")

    answer(outcome, words)


@commands.example("read-at-scale Letters --card hand --flavor dask:local:2")
def read_at_scale(
    ids: Scope = None,
    card: Annotated[str, "A reader, or a model for a reader on this machine."] = "hand",
    flavor: Annotated[
        str | None,
        "Where: local, dask:local:2, dask:tls://host:8786, or a machine class of the hub; default: the project's setting, else local.",
    ] = None,
    shard_size: Annotated[int, "Pages per shard."] = 50,
    max_in_flight: Annotated[int, "How many shards are sent at the same time."] = 10,
    pages_may_leave: Annotated[bool, "Allow pictures of pages to be sent to other machines."] = False,
    job: Annotated[str | None, "Show the state of this reading at scale."] = None,
    resend: Annotated[bool, "With --job: send its failed shards again."] = False,
    cancel: Annotated[bool, "With --job: cancel it, also on other machines."] = False,
) -> None:
    """Read very many pages in shards, here or on other machines; results become passes next to the existing ones."""
    with project_session() as session:
        if job is None:
            if resend or cancel:
                raise Refused("Name the reading at scale with --job.")
            params = {
                "scope_ids": scope_of(session, ids),
                "card": card,
                "flavor": flavor or session.get("/api/library/settings")["compute_place"] or "local",
                "shard_size": shard_size,
                "max_in_flight": max_in_flight,
                "pages_may_leave": pages_may_leave,
            }
            job = str(session.act("reading.start_at_scale", params)["result"]["job_id"])
            follow_job(session, job, "Read")
        elif cancel:
            session.act("reading.cancel_at_scale", {"job_id": job})
        elif resend:
            session.act("reading.resend_failed", {"job_id": job})
            follow_job(session, job, "Read")
        reading = session.get(f"/api/reading-at-scale/jobs/{job}")

    def words() -> None:
        typer.echo(f"Reading at scale {reading['job_id']}: {reading['state']}")
        typer.echo("  shards: " + ", ".join(f"{count} {state}" for state, count in reading["counts"].items()))
        landed = {name.replace("_", " "): count for name, count in reading["landing"].items()}
        typer.echo("  pages: " + ", ".join(f"{count} {name}" for name, count in landed.items()))
        for number, failed in reading["failed_shards"].items():
            typer.echo(f"  shard {number} failed: {failed['why']}")
        for page in reading["package"]["skipped"][:20]:
            typer.echo(f"  skipped {page['document_id']}: {page['why']}")

    answer(reading, words)


@commands.example("evaluate linereader-trained-ID --report scores.html")
def evaluate(
    candidates: Annotated[
        list[str] | None, "CANDIDATES: Models or readers to measure, besides those included."
    ] = None,
    pages: Annotated[
        list[str] | None, "--page: A page to measure on; default: the pages left out of training."
    ] = None,
    checked: Annotated[
        str | None, "--pass: The checked pass; default: the newest one made by a person."
    ] = None,
    alone: Annotated[bool, "Leave out the included readers."] = False,
    report: Report = None,
) -> None:
    """Measure readers against each other on pages that you checked."""
    with project_session() as session:
        kinds = {model["id"]: model["kind"] for model in session.get("/api/training/models")["items"]}
        params: dict[str, Any] = {
            "candidates": [
                {
                    "model": candidate,
                    "reader": "vision" if kinds.get(candidate) == "vision-lora" else "linereader",
                }
                for candidate in candidates or ()
            ],
            "held_out_ids": [document_id(session, page) for page in pages or ()],
            "add_out_of_the_box": not alone,
        }
        if checked is not None:
            params["pass"] = checked
        job_id = carry_out(session, "evaluation.run", params, "Measure")["job_id"]
        evaluation = session.get(f"/api/evaluation/runs/{job_id}")
        if report is not None:
            write_file(
                report, evaluation_report(evaluation, _pictures(session, evaluation)).encode(), overwrite=True
            )

    def words() -> None:
        result = evaluation["result"]
        table(
            "Readers measured",
            ["model", "CER", "", "WER", "pages an hour"],
            [
                [
                    model["model"],
                    percent(model["totals"].get("diplomatic", {}).get("cer")),
                    model["why"] or _interval(model["totals"].get("diplomatic", {})),
                    percent(model["wer"]),
                    str(model["speed"]["pages_per_hour"] or ""),
                ]
                for model in result["models"]
            ],
        )
        if result["best"]:
            typer.echo(f"Best: {result['best']}.")
        for reader in evaluation["plan"]["not_here"]:
            typer.echo(f"  not measured: {reader['model']}: {reader['why']}")
        if report is not None:
            typer.echo(f"Report: {report}")

    answer(evaluation, words)


def _interval(totals: dict[str, Any]) -> str:
    return f"{totals['interval'][0]:.1%} to {totals['interval'][1]:.1%}" if totals.get("interval") else ""


def _pictures(session: Session, evaluation: dict[str, Any]) -> dict[str, tuple[bytes, str]]:
    """Return the worst lines' pictures and readings, as far as the caller may see them."""
    pictures: dict[str, tuple[bytes, str]] = {}
    segment_ids = {
        line["segment_id"] for model in evaluation["result"]["models"] for line in model.get("worst", ())
    }
    for segment_id in sorted(segment_ids):
        try:
            picture = session.raw("GET", f"/api/segments/{segment_id}/picture")
            items = session.get(f"/api/segments/{segment_id}/readings")["items"]
        except Refused:
            continue
        texts = [reading["content"] or "" for reading in items if reading["provenance_kind"] == "human"]
        pictures[segment_id] = picture, texts[-1] if texts else ""
    return pictures
