"""An evaluation: each candidate reads the checked lines of the held-out pages; cards are written at the end,
readings never.
"""

from __future__ import annotations

import time
from typing import Any

from armarium.api import JobContext, JobKind, NameOrMaterialPath, ServiceError, Use, now
from armarium_documents.api import PageImage, still_image
from armarium_reading.api import Choice, choose, models_folder, note_calibration
from armarium_training import cards
from armarium_training.asking_lines import ask_line, line_pictures
from armarium_training.calibration import FEWEST, fit
from armarium_training.frozen_lines import FrozenPage, frozen_lines
from armarium_training.hookspecs import armarium_training_evaluated
from armarium_training.measuring import main_policy, page_scores, result_of, uncounted_pages
from armarium_training.measuring_pages import end_evaluation, measure_all, measure_page, measuring
from armarium_training.queries.job_rows import EVALUATE
from armarium_training.schemas.evaluation import EvaluationArgs

PROMPT = "This is one line of a manuscript{language}. Answer with what it says and nothing else, keeping its spelling."


@measuring
def evaluate(job: JobContext) -> dict[str, Any]:
    """Measure each candidate on each page, then write their scores."""
    args: EvaluationArgs = job.args
    candidates, pages = args.plan["candidates"], args.plan["pages"]
    progress = job.checkpoint
    if "result" not in progress:
        progress = measure_all(
            job,
            "read",
            len(candidates),
            [page["document_id"] for page in pages],
            lambda: frozen_lines(job),
            lambda number, page, frozen: _measure(job, candidates[number], page, frozen),
        )
        result = result_of(candidates, pages, progress["read"], args.policies)
        progress = {**progress, "result": result, "measured_at": now()}
        job.save(progress)
    _write_on_cards(job, progress)
    job.engine.points.ask(armarium_training_evaluated, job, progress)
    return {"best": progress["result"]["best"], "models": len(candidates), "pages": len(pages)}


def _measure(job: JobContext, candidate: dict[str, Any], page: str, frozen: Any) -> dict[str, Any]:
    """Return the scores of a candidate on a page; {error} if it could not read it."""
    use: Use = "cloud-model" if candidate.get("is_far") else "local-model"

    def read(picture: PageImage) -> dict[str, Any]:
        checked = FrozenPage(**frozen)
        shapes = checked.in_pixels(picture.width, picture.height)
        if candidate["provider"] is not None:
            texts, seconds = _ask_model(job, candidate, page, checked, shapes)
            cpu_seconds, sure = None, []
        else:
            with still_image(job.library, picture) as path:
                readings, seconds, cpu_seconds = _read(job, candidate, str(path), shapes)
            texts = [reading["text"] for reading in readings]
            sure = [reading.get("confidence") if reading["text"] else None for reading in readings]
        return {
            **page_scores(checked.texts, texts, job.args.policies),
            "segment_ids": checked.segment_ids,
            "sure": sure,
            "seconds": round(seconds, 4),
            "cpu_seconds": None if cpu_seconds is None else round(cpu_seconds, 4),
            "checked_by": checked.checked_by,
        }

    return measure_page(job, page, use, frozen, read)


def _read(
    job: JobContext, candidate: dict[str, Any], path: str, shapes: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], float, float | None]:
    """Return the readings of the lines, the seconds it took to read them, and the processor seconds."""
    choice = _choice(job, candidate)
    params = choice.params(job.args.language, job.engine.settings.max_image_pixels)
    # Loading time does not count as reading time.
    job.call_worker(choice.runtime, choice.target, "load", params)
    answer = job.call_worker(
        choice.runtime, choice.target, "read_lines", {"image": path, **params, "lines": shapes}
    )
    return answer["readings"], float(answer["seconds"]), answer.get("cpu_seconds")


def _choice(job: JobContext, candidate: dict[str, Any]) -> Choice:
    model_name = candidate["named"]
    return choose(
        job.engine,
        job.library,
        reader=candidate["driver"],
        method="read_lines",
        model=None if model_name is None else NameOrMaterialPath(model_name),
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
        outcome = ask_line(
            job,
            line,
            picture,
            PROMPT.format(language=language),
            provider=candidate["provider"],
            model=candidate["model"],
        )
        texts[line.segment_id] = " ".join(str(outcome.answer).split())
    return [texts.get(segment_id, "") for segment_id in checked.segment_ids], time.monotonic() - began


def _write_on_cards(job: JobContext, progress: dict[str, Any]) -> None:
    """Append each measured model's scores to its card, once however often this is repeated."""
    args: EvaluationArgs = job.args
    uncounted = uncounted_pages(progress["result"], main_policy(args.policies))
    for number, (candidate, model) in enumerate(
        zip(args.plan["candidates"], progress["result"]["models"], strict=True)
    ):
        if not model["measured"]:
            continue
        if candidate["driver"] is not None:
            _calibrate(job, candidate, list(progress["read"][number].values()), progress["measured_at"])
        entry = {
            "measured_at": progress["measured_at"],
            "job_id": job.job_id,
            "reader": model["reader"],
            "pages": sum(page["document_id"] not in uncounted for page in model["pages"]),
            "checked": args.checked,
            "cer": {policy: total["cer"] for policy, total in model["totals"].items()},
            "interval": {policy: total["interval"] for policy, total in model["totals"].items()},
            "wer": model["wer"],
            "pages_per_hour": model["speed"]["pages_per_hour"],
            "cpu_seconds_per_page": model["speed"]["cpu_seconds_per_page"],
            "by_page": [
                {
                    "document_id": page["document_id"],
                    "cer": {
                        policy: score["cer"] for policy, score in page["scores"].items() if "cer" in score
                    },
                }
                for page in model["pages"]
                if page["document_id"] not in uncounted
            ],
        }
        place = cards.find_card(job.engine, job.library, candidate["model"]) if candidate["trained"] else None
        path = (
            cards.evaluated_card(job.library, model["reader"], model["model"])
            if place is None
            else place.path
        )
        cards.add_evaluation(path, {"id": model["model"], "kind": "reader", "evaluations": []}, entry)


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
