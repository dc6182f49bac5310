"""An evaluation: each candidate reads the checked lines of the held-out pages; nothing but cards is written, at the end."""

from __future__ import annotations

import time
from typing import Any

from armarium.api import JobContext, JobKind, NameOrMaterialPath, ServiceError, now, withheld
from armarium_documents.api import page_image, still_image
from armarium_reading.api import choose, lines_of
from armarium_source_model.api import segments
from armarium_training import cards
from armarium_training.asking_lines import ask_line, line_pictures
from armarium_training.line_sets import TaughtLine, checked_lines
from armarium_training.measuring import page_scores, result_of
from armarium_training.queries.job_rows import EVALUATE
from armarium_training.schemas.evaluation import EvaluationArgs

PROMPT = "This is one line of a manuscript{language}. Answer with what it says and nothing else, keeping its spelling."


def evaluate(job: JobContext) -> dict[str, Any]:
    """Candidate after candidate, page after page; killed anywhere and run again it measures what is left."""
    args: EvaluationArgs = job.args
    candidates, pages = args.plan["candidates"], args.plan["pages"]
    kept: dict[str, Any] = {"read": [{} for _ in candidates], **job.checkpoint}
    total = len(candidates) * len(pages)
    if "result" not in kept:
        for number, candidate in enumerate(candidates):
            for page in pages:
                if page["document_id"] in kept["read"][number]:
                    continue
                job.check()
                read = [dict(one) for one in kept["read"]]
                read[number][page["document_id"]] = _page(job, candidate, page["document_id"])
                kept = {**kept, "read": read}
                job.save(kept, done=sum(map(len, read)), total=total)
        job.check()
        result = result_of(candidates, pages, kept["read"], args.policies)
        kept = {**kept, "result": result, "measured_at": now()}
        job.save(kept)
    _write_on_cards(job, kept)
    return {"best": kept["result"]["best"], "models": len(candidates), "pages": len(pages)}


def _page(job: JobContext, candidate: dict[str, Any], page: str) -> dict[str, Any]:
    """The scores of a candidate on a page; {error} where it could not read it."""
    args: EvaluationArgs = job.args
    why = withheld(job.library, job.principal, [page], "local-model").get(page)
    if why is not None:
        return {"error": why}
    with job.library.db.read_all() as conn:
        lines, who = checked_lines(conn, page, args.checked)
        if not lines:
            return {"error": "What was checked is not there any more."}
        wanted = [line.segment_id for line in lines]
        pass_id = conn.execute(segments.select().where(segments.c.id == wanted[0])).one().pass_id
        picture = page_image(job.library, conn, page)
        ids, shapes = lines_of(conn, pass_id, picture.width, picture.height)
    by_id = dict(zip(ids, shapes, strict=True))
    shapes = [by_id[one] for one in wanted]
    try:
        if candidate["provider"] is not None:
            texts, seconds = _asked(job, candidate, lines)
        else:
            with still_image(job.library, picture) as path:
                texts, seconds = _read(job, candidate, str(path), shapes)
    except ServiceError as error:
        if error.code == "engine_stopping":
            raise
        job.log("warning", error.detail, document_id=page)
        return {"error": error.detail}
    scores = page_scores([line.text for line in lines], texts, args.policies)
    return {**scores, "segment_ids": wanted, "seconds": round(seconds, 4), "checked_by": who}


def _read(
    job: JobContext, candidate: dict[str, Any], path: str, shapes: list[dict[str, Any]]
) -> tuple[list[str], float]:
    named = candidate["named"]
    choice = choose(
        job.engine,
        job.library,
        reader=candidate["driver"],
        method="read_lines",
        model=None if named is None else NameOrMaterialPath(named),
        language=job.args.language,
    )
    given = choice.params(job.args.language, job.engine.settings.max_image_pixels)
    # What loading takes is not the reading's time.
    job.call_worker(choice.runtime, choice.target, "load", given)
    answer = job.call_worker(
        choice.runtime, choice.target, "read_lines", {"image": path, **given, "lines": shapes}
    )
    return [one["text"] for one in answer["readings"]], float(answer["seconds"])


def _asked(job: JobContext, candidate: dict[str, Any], lines: list[TaughtLine]) -> tuple[list[str], float]:
    """What a model served on this machine says of each line's picture."""
    language = f" in {job.args.language}" if job.args.language else ""
    texts: dict[str, str] = {}
    began = time.monotonic()
    for line, picture in line_pictures(job, lines[0].document_id, lines):
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
    return [texts.get(line.segment_id, "") for line in lines], time.monotonic() - began


def _write_on_cards(job: JobContext, kept: dict[str, Any]) -> None:
    """Append each measured model's scores to its card, once however often this is repeated."""
    args: EvaluationArgs = job.args
    for candidate, told in zip(args.plan["candidates"], kept["result"]["models"], strict=True):
        if not told["measured"]:
            continue
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
        }
        place = cards.find_card(job.engine, job.library, candidate["model"]) if candidate["trained"] else None
        path = (
            cards.evaluated_card(job.library, told["reader"], told["model"]) if place is None else place.path
        )
        cards.add_evaluation(path, {"id": told["model"], "kind": "reader", "evaluations": []}, entry)


EVALUATION = JobKind(
    name=EVALUATE,
    lane="local-model",
    summary="Measure readers on pages that were checked.",
    run=evaluate,
    args=EvaluationArgs,
    heavy=True,
)
