"""The bodies of gathering reasons and of comparing students; every call of a model is an episode of the ledger."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from armarium.api import CannotGoOn, JobContext, JobKind, NotFound, ServiceError, now
from armarium_reading.api import list_episodes
from armarium_source_model.api import CannotScore, total_rate, word_rate
from armarium_training import cards
from armarium_training.arms import Reasoned, instruction
from armarium_training.asking_lines import ask_line, line_pictures, use_by
from armarium_training.line_sets import TaughtLine, checked_pages
from armarium_training.measuring import rated_in_common
from armarium_training.queries.job_rows import COMPARE, GATHER
from armarium_training.queries.reasons import COUNTS
from armarium_training.schemas.evaluation import ALL_POLICIES
from armarium_training.schemas.training import ComparisonParams, ReasonsArgs

GATHERING = (
    "You are a palaeographer. This is the picture of one line of a source{language}. Say how it is to be read: the "
    "letterforms that decide, the abbreviations and how they are resolved, what is uncertain; then the transcription, "
    "keeping the spelling of the source."
)


def gather(job: JobContext) -> dict[str, Any]:
    """Ask about every line of the checked pass, page by page; after a kill, no line is asked about twice."""
    args: ReasonsArgs = job.args
    progress: dict[str, Any] = {
        **dict.fromkeys(COUNTS, 0),
        "pages_missing": [],
        "next": 0,
        "asked": [],
        **job.checkpoint,
    }
    language = f" in {args.language}" if args.language else ""
    prompt = args.prompt or GATHERING.format(language=language)
    use = use_by(job.engine, [(args.provider, args.model)])
    begun = progress["next"]
    with job.library.db.read_all() as conn:
        lines, missing = checked_pages(
            conn,
            job.library,
            job.principal,
            args.page_ids[begun:],
            args.checked,
            use=use,
            held_out_ids=args.held_out_ids,
            with_unchecked=True,
        )
    left_out = {entry["document_id"]: entry["why"] for entry in missing}
    for number, page in enumerate(args.page_ids[begun:], begun):
        why = left_out.get(page)
        if why is None:
            try:
                progress = _gather_page(job, progress, lines[page], prompt)
            except NotFound as refusal:
                # The lines that were asked about before count.
                progress, why = {**progress, **job.checkpoint}, refusal.detail
        if why is not None:
            progress = {
                **progress,
                "pages_missing": [*progress["pages_missing"], {"document_id": page, "why": why}],
            }
        progress = {**progress, "next": number + 1, "asked": []}
        job.save(progress, done=progress["lines"])
    return {name: progress[name] for name in COUNTS}


def _gather_page(
    job: JobContext, progress: dict[str, Any], lines: list[TaughtLine], prompt: str
) -> dict[str, Any]:
    args: ReasonsArgs = job.args
    unasked = [line for line in lines if line.segment_id not in set(progress["asked"])]
    if not unasked:
        return progress
    for line, picture in line_pictures(job, unasked[0].document_id, unasked):
        job.check()
        has_reasons = thought = False
        try:
            outcome = ask_line(
                job, line, picture, prompt, provider=args.provider, model=args.model, answer=Reasoned
            )
        except ServiceError as error:
            if error.code == "rights_restricted":
                raise NotFound(error.detail, code="withheld") from error
            if error.code not in ("answer_not_valid", "provider_failed"):
                raise
            job.log("warning", error.detail, document_id=line.document_id, segment_id=line.segment_id)
        else:
            has_reasons = bool(outcome.answer.reasons.strip())
            thought = _has_thinking(job, line, outcome.episode_id)
        progress = {
            **progress,
            "lines": progress["lines"] + 1,
            "with_reasons": progress["with_reasons"] + has_reasons,
            "with_thinking": progress["with_thinking"] + thought,
            "unanswered": progress["unanswered"] + (not has_reasons),
            "asked": [*progress["asked"], line.segment_id],
        }
        job.save(progress, done=progress["lines"])
    return progress


def _has_thinking(job: JobContext, line: TaughtLine, episode_id: str | None) -> bool:
    """Return whether the model's thinking came with its answer, which the ledger has."""
    with job.library.db.read_all() as conn:
        episodes = list_episodes(conn, job_id=job.job_id, document_id=line.document_id, limit=100_000)
    return any(
        episode["episode_id"] == episode_id and episode["exchange"].get("thinking") for episode in episodes
    )


def compare(job: JobContext) -> dict[str, Any]:
    """Let each contender read every line, a reasoning student also without reasoning; write verdicts, also on cards."""
    args: ComparisonParams = job.args
    rounds = list(_rounds(args))
    progress: dict[str, Any] = {"read": {}, **job.checkpoint}
    lines = _lines(job)
    for key, contender, arm in rounds:
        for page, own in lines.items():
            known = progress["read"].get(key, {})
            unread = [line for line in own if line.segment_id not in known]
            if not unread:
                continue
            for line, picture in line_pictures(job, page, unread):
                job.check()
                read = {
                    **progress["read"].get(key, {}),
                    line.segment_id: _read(job, contender, arm, line, picture),
                }
                progress = {**progress, "read": {**progress["read"], key: read}}
                job.save(progress, done=sum(map(len, progress["read"].values())))
    if "result" not in progress:
        progress = {
            **progress,
            "result": _result(args, rounds, lines, progress["read"]),
            "measured_at": now(),
        }
        job.save(progress)
    _write_on_cards(job, progress)
    return {"adopted": [verdict["label"] for verdict in progress["result"]["verdicts"] if verdict["adopted"]]}


def _rounds(args: ComparisonParams) -> Iterator[tuple[str, Any, str]]:
    """Yield (key, contender, arm): a reasoning student reads twice."""
    for number, contender in enumerate(args.contenders):
        yield f"{number}:on", contender, contender.arm
        if contender.role == "student" and contender.arm != "answer":
            yield f"{number}:off", contender, "answer"


def _lines(job: JobContext) -> dict[str, list[TaughtLine]]:
    """Return the checked lines of the pages that may be shown to every contender."""
    args: ComparisonParams = job.args
    use = use_by(job.engine, [(contender.provider, contender.model) for contender in args.contenders])
    with job.library.db.read_all() as conn:
        lines, missing = checked_pages(
            conn, job.library, job.principal, args.held_out_ids, args.checked, use=use
        )
    for entry in missing:
        job.log("warning", entry["why"], document_id=entry["document_id"])
    return lines


def _read(job: JobContext, contender: Any, arm: str, line: TaughtLine, picture: Any) -> dict[str, Any]:
    began = time.monotonic()
    try:
        outcome = ask_line(
            job,
            line,
            picture,
            instruction(arm, job.args.language),
            provider=contender.provider,
            model=contender.model,
            answer=Reasoned if arm == "why" else None,
        )
    except (ServiceError, CannotGoOn) as error:
        # A provider that refuses whatever it is asked leaves the other contenders to be measured.
        if error.code not in ("answer_not_valid", "provider_failed", "provider_refused"):
            raise
        # Not to answer is no reading: the line is not measured.
        return {"text": None, "seconds": time.monotonic() - began, "uncertain": False}
    text = outcome.answer.transcription if arm == "why" else str(outcome.answer)
    uncertain = bool(outcome.answer.uncertain) if arm == "why" else False
    return {"text": " ".join(text.split()), "seconds": time.monotonic() - began, "uncertain": uncertain}


def _result(
    args: ComparisonParams,
    rounds: list[tuple[str, Any, str]],
    lines: dict[str, list[TaughtLine]],
    read: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    every = [line for own in lines.values() for line in own]
    answered = {
        key: {
            segment_id: answer
            for segment_id, answer in read.get(key, {}).items()
            if answer["text"] is not None
        }
        for key, _, _ in rounds
    }
    enough, in_common = rated_in_common([line.segment_id for line in every], list(answered.values()))
    measured = {key for key, is_enough in zip(answered, enough, strict=True) if is_enough}
    common = [line for line in every if line.segment_id in in_common]
    contenders = []
    for key, contender, arm in rounds:
        both = [(line.text, answered[key][line.segment_id]) for line in common] if key in measured else []
        pairs = [(text, answer["text"]) for text, answer in both]
        seconds = sum(answer["seconds"] for _, answer in both)
        cer = {}
        for policy in ALL_POLICIES:
            try:
                cer[str(policy)] = round(total_rate(pairs, policy)[2], 6)
            except CannotScore:
                continue
        wrong = sum(word_rate(text, answer)[0] for text, answer in pairs)
        words = sum(word_rate(text, answer)[1] for text, answer in pairs)
        is_why = contender.arm == "why" and contender.role == "student" and arm == "why"
        doubted = [text for text in both if text[1]["uncertain"]]
        contenders.append(
            {
                **{name: getattr(contender, name) for name in ("label", "provider", "model", "arm", "role")},
                "reasoning": "off" if key.endswith(":off") or arm == "answer" else "on",
                "cer": cer,
                "wer": round(wrong / words, 6) if words else None,
                "unanswered": len(every) - len(answered[key]),
                "measured": bool(pairs),
                "seconds_per_line": round(seconds / len(both), 4) if both else None,
                "errors_on_uncertain": sum(text != answer["text"] for text, answer in doubted)
                if is_why
                else None,
            }
        )
    return {
        "pages": len(lines),
        "lines": len(every),
        "contenders": contenders,
        "verdicts": _verdicts(args, contenders),
    }


def _verdicts(args: ComparisonParams, contenders: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Adopt a reasoning student only if it beats the student that only answers by more than the noise."""
    plain = [student for student in contenders if student["role"] == "student" and student["arm"] == "answer"]
    verdicts = []
    for contender in contenders:
        if contender["role"] != "student" or contender["arm"] == "answer" or contender["reasoning"] == "off":
            continue
        adopted, margin = False, None
        rates = [(other["cer"].get("diplomatic"), other["label"]) for other in plain]
        best = min(((rate, label) for rate, label in rates if rate is not None), default=None)
        own = contender["cer"].get("diplomatic")
        silent = [
            f"{student['label']} left {student['unanswered']} lines unanswered"
            for student in (*plain, contender)
            if not student["measured"]
        ]
        if own is None or (best is None and silent):
            why = f"{'; '.join(silent) or 'No line could be measured'}, so nothing is measured and it is not adopted."
        elif best is None:
            why = "There is no student that only answers to compare it with, so it is not adopted."
        else:
            margin = round(best[0] - own, 6)
            adopted = margin > args.noise_band
            more = "more than" if adopted else "not more than"
            why = f"Its error rate is {margin:+.4f} below that of {best[1]}: {more} the noise of {args.noise_band:g}."
        verdicts.append({"label": contender["label"], "adopted": adopted, "margin": margin, "why": why})
    return verdicts


def _write_on_cards(job: JobContext, progress: dict[str, Any]) -> None:
    verdicts = {verdict["label"]: verdict for verdict in progress["result"]["verdicts"]}
    for contender in progress["result"]["contenders"]:
        place = cards.find_card(job.engine, job.library, contender["model"])
        if (
            place is None
            or not contender["measured"]
            or (contender["reasoning"] == "off" and contender["arm"] != "answer")
        ):
            continue
        entry = {
            "measured_at": progress["measured_at"],
            "job_id": job.job_id,
            "reader": "vision",
            "pages": progress["result"]["pages"],
            "checked": job.args.checked,
            "cer": contender["cer"],
            "wer": contender["wer"],
            "arm": contender["arm"],
            "verdict": verdicts.get(contender["label"]),
        }
        cards.add_evaluation(place.path, place.card, entry)


GATHER_REASONS = JobKind(
    name=GATHER,
    lane="network",
    also_lanes=("local-model",),
    summary="Ask a model why lines are read as they are.",
    run=gather,
    unit="lines",
    args=ReasonsArgs,
)
COMPARE_REASONS = JobKind(
    name=COMPARE,
    lane="network",
    also_lanes=("local-model",),
    summary="Measure whether students that reason read better.",
    run=compare,
    unit="lines",
    args=ComparisonParams,
)
