"""An evaluation: each candidate reads the checked lines of the held-out pages; cards are written at the end,
readings never.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from armarium.api import JobContext, JobKind, NameOrMaterialPath, ServiceError, Use, find_withheld, now
from armarium_documents.api import page_image, primary_row, require_live, still_image
from armarium_reading.api import Choice, choose, models_folder, note_calibration
from armarium_training import cards
from armarium_training.asking_lines import ask_line, line_pictures
from armarium_training.calibration import FEWEST, fit
from armarium_training.frozen_lines import FrozenPage, frozen_lines, place_of
from armarium_training.hookspecs import armarium_training_evaluated
from armarium_training.jobs.ending_elsewhere import end_evaluation
from armarium_training.measuring import main_policy, page_scores, result_of
from armarium_training.queries.job_rows import EVALUATE
from armarium_training.schemas.evaluation import EvaluationArgs

PROMPT = "This is one line of a manuscript{language}. Answer with what it says and nothing else, keeping its spelling."


def evaluate(job: JobContext) -> dict[str, Any]:
    """Measure candidate by candidate and page by page; after a kill it resumes with what is left."""
    try:
        return _measure(job)
    except BaseException:
        if job.stop == "cancel":
            place_of(job.library, job.job_id).unlink(missing_ok=True)
        raise


def _measure(job: JobContext) -> dict[str, Any]:
    args: EvaluationArgs = job.args
    candidates, pages = args.plan["candidates"], args.plan["pages"]
    unread: dict[str, Any] = {"read": [{} for _ in candidates]}
    kept: dict[str, Any] = {**unread, **job.checkpoint}
    total = len(candidates) * len(pages)
    if "result" not in kept:
        frozen = frozen_lines(job, any(kept["read"]))
        if frozen is None:
            kept = unread
            job.save(kept, done=0, total=total)
            frozen = frozen_lines(job, False) or {}
        for number, candidate in enumerate(candidates):
            for page in pages:
                if page["document_id"] in kept["read"][number]:
                    continue
                job.check()
                read = [dict(one) for one in kept["read"]]
                read[number][page["document_id"]] = _page(job, candidate, page["document_id"], frozen)
                kept = {**kept, "read": read}
                job.save(kept, done=sum(map(len, read)), total=total)
        job.check()
        result = result_of(candidates, pages, kept["read"], args.policies)
        kept = {**kept, "result": result, "measured_at": now()}
        job.save(kept)
    _write_on_cards(job, kept)
    job.engine.points.ask(armarium_training_evaluated, job, kept)
    place_of(job.library, job.job_id).unlink(missing_ok=True)
    return {"best": kept["result"]["best"], "models": len(candidates), "pages": len(pages)}


def _page(
    job: JobContext, candidate: dict[str, Any], page: str, frozen: Mapping[str, FrozenPage]
) -> dict[str, Any]:
    """Return the scores of a candidate on a page; {error} if it could not read it."""
    args: EvaluationArgs = job.args
    use: Use = "cloud-model" if candidate.get("is_far") else "local-model"
    why = find_withheld(job.library, job.principal, [page], use).get(page)
    if why is not None:
        return {"error": why}
    checked = frozen.get(page)
    if checked is None:
        return {"error": "Its checked text no longer exists."}
    try:
        with job.library.db.read_all() as conn:
            require_live(conn, page)
            picture = page_image(job.library, conn, page)
            if primary_row(conn, page).checksum != checked.checksum:
                return {"error": "Its picture was changed during the measurement."}
        shapes = checked.in_pixels(picture.width, picture.height)
        if candidate["provider"] is not None:
            texts, seconds = _ask_model(job, candidate, page, checked, shapes)
            cpu_seconds, sure = None, []
        else:
            with still_image(job.library, picture) as path:
                readings, seconds, cpu_seconds = _read(job, candidate, str(path), shapes)
            texts = [one["text"] for one in readings]
            sure = [one.get("confidence") if one["text"] else None for one in readings]
    except ServiceError as error:
        if error.code == "engine_stopping":
            raise
        job.log("warning", error.detail, document_id=page)
        return {"error": error.detail}
    scores = page_scores(checked.texts, texts, args.policies)
    return {
        **scores,
        "segment_ids": checked.segment_ids,
        "sure": sure,
        "seconds": round(seconds, 4),
        "cpu_seconds": None if cpu_seconds is None else round(cpu_seconds, 4),
        "checked_by": checked.checked_by,
    }


def _read(
    job: JobContext, candidate: dict[str, Any], path: str, shapes: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], float, float | None]:
    """Return the readings of the lines, the seconds it took to read them, and the processor seconds."""
    choice = _choice(job, candidate)
    given = choice.params(job.args.language, job.engine.settings.max_image_pixels)
    # Loading time does not count as reading time.
    job.call_worker(choice.runtime, choice.target, "load", given)
    answer = job.call_worker(
        choice.runtime, choice.target, "read_lines", {"image": path, **given, "lines": shapes}
    )
    return (
        answer["readings"],
        float(answer["seconds"]),
        answer.get("cpu_seconds"),
    )


def _choice(job: JobContext, candidate: dict[str, Any]) -> Choice:
    named = candidate["named"]
    return choose(
        job.engine,
        job.library,
        reader=candidate["driver"],
        method="read_lines",
        model=None if named is None else NameOrMaterialPath(named),
        language=job.args.language,
    )


def _ask_model(
    job: JobContext, candidate: dict[str, Any], page: str, checked: FrozenPage, shapes: list[dict[str, Any]]
) -> tuple[list[str], float]:
    """Return what a provider's model reads in each line's picture."""
    language = f" in {job.args.language}" if job.args.language else ""
    texts: dict[str, str] = {}
    began = time.monotonic()
    stood = dict(zip(checked.segment_ids, shapes, strict=True))
    for line, picture in line_pictures(job, page, checked.lines(page), stood):
        job.check()
        asked = ask_line(
            job,
            line,
            picture,
            PROMPT.format(language=language),
            provider=candidate["provider"],
            model=candidate["model"],
        )
        texts[line.segment_id] = " ".join(str(asked.answer).split())
    return [texts.get(segment_id, "") for segment_id in checked.segment_ids], time.monotonic() - began


def _write_on_cards(job: JobContext, kept: dict[str, Any]) -> None:
    """Append each measured model's scores to its card, once however often this is repeated."""
    args: EvaluationArgs = job.args
    for number, (candidate, told) in enumerate(
        zip(args.plan["candidates"], kept["result"]["models"], strict=True)
    ):
        if not told["measured"]:
            continue
        if candidate["driver"] is not None:
            _calibrate(job, candidate, list(kept["read"][number].values()), kept["measured_at"])
        entry = {
            "measured_at": kept["measured_at"],
            "job_id": job.job_id,
            "reader": told["reader"],
            "pages": told["speed"]["pages"],
            "checked": args.checked,
            "cer": {policy: one["cer"] for policy, one in told["totals"].items()},
            "interval": {policy: one["interval"] for policy, one in told["totals"].items()},
            "wer": told["wer"],
            "pages_per_hour": told["speed"]["pages_per_hour"],
            "cpu_seconds_per_page": told["speed"]["cpu_seconds_per_page"],
            "by_page": [
                {
                    "document_id": page["document_id"],
                    "cer": {policy: one["cer"] for policy, one in page["scores"].items() if "cer" in one},
                }
                for page in told["pages"]
            ],
        }
        place = cards.find_card(job.engine, job.library, candidate["model"]) if candidate["trained"] else None
        path = (
            cards.evaluated_card(job.library, told["reader"], told["model"]) if place is None else place.path
        )
        cards.add_evaluation(path, {"id": told["model"], "kind": "reader", "evaluations": []}, entry)


def _calibrate(job: JobContext, candidate: dict[str, Any], pages: list[dict[str, Any]], at: str) -> None:
    """Note beside a model of this machine how far its confidence can be trusted, so that the automatic choice of readers may
    take it: a reader that brings its own table needs none.
    """
    try:
        choice = _choice(job, candidate)
    except ServiceError:
        # Removed since it read.
        return
    path, kind = choice.model_path, choice.reader.model_kind
    if path is None or kind is None or not choice.reader.reading_needs_model:
        return
    policy = main_policy(job.args.policies)
    lines = [
        (sure, distance, length)
        for page in pages
        for sure, (distance, length) in zip(
            page.get("sure", ()), page.get("lines", {}).get(policy, ()), strict=False
        )
        if length
    ]
    read = [(sure, max(0.0, 1 - distance / length)) for sure, distance, length in lines if sure is not None]
    if len(read) < FEWEST or not path.is_relative_to(models_folder(job.engine, kind)):
        return
    cer = sum(distance for _, distance, _ in lines) / sum(length for *_, length in lines)
    table = fit([sure for sure, _ in read], [share for _, share in read])
    note_calibration(path, {"table": table, "lines": len(read), "cer": round(cer, 5), "measured_at": at})


EVALUATION = JobKind(
    name=EVALUATE,
    lane="local-model",
    summary="Measure readers on checked pages.",
    run=evaluate,
    args=EvaluationArgs,
    heavy=True,
    on_cancel=end_evaluation,
)
