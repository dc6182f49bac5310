"""The commands of training: train a reader on a hand, measure readers, list trained models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.commandline import (
    Refused,
    Session,
    Topic,
    answer,
    follow_job,
    plural,
    project_session,
    result_of,
    table,
    write_file,
)
from armarium_documents.commandline import Scope, document_id, scope_of
from armarium_training.cli_models import register_models
from armarium_training.report import evaluation_report, sparkline, training_report, words_of_set

BASE = "hand-base"
Report = Annotated[
    Path | None, typer.Option("--report", help="Write a report to this self-contained HTML file.")
]
HoldOut = Annotated[
    list[str] | None,
    typer.Option("--hold-out", help="A page to leave out of the training and measure on. May be repeated."),
]


def commands() -> typer.Typer:
    """Return the commands."""
    program = typer.Typer()
    program.command(
        rich_help_panel=Topic.lines,
        epilog="Example: armarium train Letters --teacher hand --hold-out 0009.jpg",
    )(train)
    program.command(
        rich_help_panel=Topic.lines,
        epilog="Example: armarium evaluate linereader-trained-ID --report scores.html",
    )(evaluate)
    register_models(program)
    program.command(
        rich_help_panel=Topic.lines,
        epilog="Example: armarium train-regions Charters --hold-out 0009.jpg",
    )(train_regions)
    program.command(
        rich_help_panel=Topic.lines,
        epilog="Example: armarium train-vision Letters --base owner/model-8B --pages-may-leave",
    )(train_vision)
    program.command(
        rich_help_panel=Topic.lines,
        epilog="Example: armarium read-at-scale Letters --card hand --flavor dask:local:2",
    )(read_at_scale)
    return program


def train(
    ids: Scope = None,
    teacher: Annotated[
        str,
        typer.Option(
            help="Whose lines to train on, with your corrections: a reader, a model, a pass, or a format (alto)."
        ),
    ] = "hand",
    base: Annotated[str, typer.Option(help="The model to start from; an empty string: from scratch.")] = BASE,
    hold_out: HoldOut = None,
    name: Annotated[str | None, typer.Option(help="The name of the reader.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Default: until it stops improving.")] = None,
    batch_size: Annotated[int, typer.Option(help="How many lines are trained on together.")] = 4,
    report: Report = None,
) -> None:
    """Train a reader on this machine, on lines that were read and corrected."""
    with project_session() as session:
        params: dict[str, Any] = {
            "scope_ids": scope_of(session, ids),
            "teacher": teacher,
            "held_out_ids": [document_id(session, one) for one in hold_out or ()],
            "batch_size": batch_size,
        }
        stated = {"base": base, "display_name": name, "epochs": epochs}
        params |= {key: value for key, value in stated.items() if value}
        job_id = session.act("training.start_here", params)["result"]["job_id"]
        follow_job(session, job_id, "Train")
        outcome = result_of(session, job_id)
        told = session.get(f"/api/training/jobs/{job_id}")
        model = session.get("/api/training/model", model=told["reader_id"])
        left_out = words_of_set(
            told["training_set"], lambda page: str(session.get(f"/api/documents/{page}")["name"])
        )
        if report is not None:
            write_file(report, training_report(told, model).encode(), overwrite=True)

    def words() -> None:
        rates = [one["cer"] for one in told["curve"]]
        lines = plural(told["training_set"]["lines"], "line")
        typer.echo(f"Trained {told['reader_id']} on {lines}, {plural(len(rates), 'epoch')}.")
        typer.echo(
            f"  {sparkline(rates)}  error rate on the lines that chose the best epoch: {min(rates):.1%}"
        )
        typer.echo("  It is no measure of other pages: armarium evaluate reads pages that were held out.")
        for line in left_out:
            typer.echo(f"  {line}")
        reader = next((one["build"] for one in model["runs_on"] if one["here"]), "hand")
        typer.echo(f"  Read with it: armarium read --reader {reader} --model {told['reader_id']}")
        if report is not None:
            typer.echo(f"  Report: {report}")

    answer({**outcome, "job_id": job_id, "curve": told["curve"]}, words)


def train_regions(
    ids: Scope = None,
    hold_out: HoldOut = None,
    base: Annotated[
        str | None, typer.Option(help="The layout detector to start from; default: from scratch.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The name of the detector.")] = None,
    epochs: Annotated[
        int, typer.Option(help="The largest number of epochs; it ends sooner when it stops improving.")
    ] = 50,
    image_size: Annotated[int, typer.Option(help="Side in pixels to which pages are scaled.")] = 960,
) -> None:
    """Train a layout detector on this machine, on regions that you drew or changed."""
    with project_session() as session:
        params: dict[str, Any] = {
            "scope_ids": scope_of(session, ids),
            "held_out_ids": [document_id(session, one) for one in hold_out or ()],
            "epochs": epochs,
            "image_size": image_size,
        }
        params |= {key: value for key, value in {"base": base, "display_name": name}.items() if value}
        job_id = session.act("training.start_regions_here", params)["result"]["job_id"]
        follow_job(session, job_id, "Train")
        outcome = result_of(session, job_id)
        told = session.get(f"/api/training/jobs/{job_id}")
        scores = session.get("/api/training/model", model=told["model_id"])["scores"]

    def words() -> None:
        regions = plural(told["training_set"]["regions"], "region")
        found = [one["map50"] for one in told["curve"]]
        typer.echo(f"Trained {told['model_id']} on {regions}, {plural(len(found), 'epoch')}.")
        typer.echo(f"  {sparkline(found)}  best mAP50 on validation pages: {max(found):.2f}")
        if scores is not None:
            typer.echo(f"  mAP50 on the held-out pages: {scores['map50']:.2f}")
        typer.echo(
            f"  Use it: armarium action layout.find_regions --model {told['model_id']} --scope-ids PAGE"
        )

    answer({**outcome, "job_id": job_id, "curve": told["curve"]}, words)


def train_vision(
    ids: Scope = None,
    teacher: Annotated[
        str,
        typer.Option(
            help="Whose lines to train on, with your corrections: a reader, a model, a pass, or a format (alto)."
        ),
    ] = "hand",
    base: Annotated[
        str, typer.Option(help="A vision model on this machine by its name, or owner/model at the model hub.")
    ] = "",
    hold_out: HoldOut = None,
    name: Annotated[str, typer.Option(help="The name of the student.")] = "student",
    arm: Annotated[
        str, typer.Option(help="What it is taught to answer: answer, why, thinking or review.")
    ] = "answer",
    epochs: Annotated[int, typer.Option(help="How often each line is trained on.")] = 2,
    flavor: Annotated[
        str | None,
        typer.Option(help="The machine class at the hub. Default: this machine, for a model that is on it."),
    ] = None,
    pages_may_leave: Annotated[
        bool, typer.Option("--pages-may-leave", help="Allow pictures of lines to be sent to the model hub.")
    ] = False,
) -> None:
    """Train a vision model on lines that were read and corrected, here or at the model hub."""
    if not base:
        raise Refused("Name the model to start from with --base.")
    with project_session() as session:
        params: dict[str, Any] = {
            "scope_ids": scope_of(session, ids),
            "teacher": teacher,
            "base_repo": base,
            "held_out_ids": [document_id(session, one) for one in hold_out or ()],
            "name": name,
            "arm": arm,
            "epochs": epochs,
            "pages_may_leave": pages_may_leave,
        }
        place = flavor or (None if "/" in base else "local")
        params |= {} if place is None else {"flavor": place}
        job_id = session.act("training.start_vision_lora", params)["result"]["job_id"]
        follow_job(session, job_id, "Train")
        outcome = result_of(session, job_id)
        told = session.get(f"/api/training/jobs/{job_id}")

    def words() -> None:
        typer.echo(f"Trained {told['model_id']}, {plural(len(told['curve']), 'epoch')}.")
        named = str(told["model_id"]).replace("/", "--")
        typer.echo(f"  Read with it: armarium read --reader vision --model {named}")

    answer({**outcome, "job_id": job_id, "curve": told["curve"]}, words)


def read_at_scale(
    ids: Scope = None,
    card: Annotated[str, typer.Option(help="A reader, or a model for a reader on this machine.")] = "hand",
    flavor: Annotated[
        str | None,
        typer.Option(
            help="Where: local, dask:local:2, dask:tls://host:8786, or a machine class of the hub; default: the project's setting, else local."
        ),
    ] = None,
    shard_size: Annotated[int, typer.Option(help="Pages per shard.")] = 50,
    max_in_flight: Annotated[int, typer.Option(help="How many shards are sent at the same time.")] = 10,
    pages_may_leave: Annotated[
        bool, typer.Option("--pages-may-leave", help="Allow pictures of pages to be sent to other machines.")
    ] = False,
    job: Annotated[str | None, typer.Option(help="Show the state of this reading at scale.")] = None,
    resend: Annotated[
        bool, typer.Option("--resend", help="With --job: send its failed shards again.")
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="With --job: cancel it, also on other machines.")
    ] = False,
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
        told = session.get(f"/api/reading-at-scale/jobs/{job}")

    def words() -> None:
        typer.echo(f"Reading at scale {told['job_id']}: {told['state']}")
        typer.echo("  shards: " + ", ".join(f"{count} {state}" for state, count in told["counts"].items()))
        landed = {name.replace("_", " "): count for name, count in told["landing"].items()}
        typer.echo("  pages: " + ", ".join(f"{count} {name}" for name, count in landed.items()))
        for number, failed in told["failed_shards"].items():
            typer.echo(f"  shard {number} failed: {failed['why']}")
        for one in told["package"]["skipped"][:20]:
            typer.echo(f"  skipped {one['document_id']}: {one['why']}")

    answer(told, words)


def evaluate(
    candidates: Annotated[
        list[str] | None, typer.Argument(help="Models or readers to measure, besides those included.")
    ] = None,
    pages: Annotated[
        list[str] | None,
        typer.Option("--page", help="A page to measure on; default: the pages left out of training."),
    ] = None,
    checked: Annotated[
        str | None, typer.Option("--pass", help="The checked pass; default: the newest one made by a person.")
    ] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Leave out the included readers.")] = False,
    report: Report = None,
) -> None:
    """Measure readers against each other on pages that you checked."""
    with project_session() as session:
        kinds = {one["id"]: one["kind"] for one in session.get("/api/training/models")["items"]}
        params: dict[str, Any] = {
            "candidates": [
                {"model": one, "reader": "vision" if kinds.get(one) == "vision-lora" else "linereader"}
                for one in candidates or ()
            ],
            "held_out_ids": [document_id(session, one) for one in pages or ()],
            "add_out_of_the_box": not alone,
        }
        if checked is not None:
            params["pass"] = checked
        started = session.act("evaluation.run", params)["result"]
        follow_job(session, started["job_id"], "Measure")
        result_of(session, started["job_id"])
        told = session.get(f"/api/evaluation/runs/{started['job_id']}")
        if report is not None:
            write_file(report, evaluation_report(told, _pictures(session, told)).encode(), overwrite=True)

    def words() -> None:
        result = told["result"]
        table(
            "Readers measured",
            ["model", "CER", "", "WER", "pages an hour"],
            [
                [
                    one["model"],
                    _percent(one["totals"].get("diplomatic", {}).get("cer")),
                    one["why"] or _interval(one["totals"].get("diplomatic", {})),
                    _percent(one["wer"]),
                    str(one["speed"]["pages_per_hour"] or ""),
                ]
                for one in result["models"]
            ],
        )
        if result["best"]:
            typer.echo(f"Best: {result['best']}.")
        for one in told["plan"]["not_here"]:
            typer.echo(f"  not measured: {one['model']}: {one['why']}")
        if report is not None:
            typer.echo(f"Report: {report}")

    answer(told, words)


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.1%}"


def _interval(told: dict[str, Any]) -> str:
    return f"{told['interval'][0]:.1%} to {told['interval'][1]:.1%}" if told.get("interval") else ""


def _pictures(session: Session, told: dict[str, Any]) -> dict[str, tuple[bytes, str]]:
    """Return the worst lines' pictures and readings, as far as the caller may see them."""
    found: dict[str, tuple[bytes, str]] = {}
    wanted = {line["segment_id"] for one in told["result"]["models"] for line in one.get("worst", ())}
    for segment_id in sorted(wanted):
        try:
            picture = session.raw("GET", f"/api/segments/{segment_id}/picture")
            items = session.get(f"/api/segments/{segment_id}/readings")["items"]
        except Refused:
            continue
        texts = [one["content"] or "" for one in items if one["provenance_kind"] == "human"]
        found[segment_id] = picture, texts[-1] if texts else ""
    return found
