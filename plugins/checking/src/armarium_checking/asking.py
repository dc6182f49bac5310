"""Readings checked by a provider's model: one call a page, whose answer can name the readings it was shown and no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model

from armarium.api import JobContext
from armarium_checking.agreement import Line
from armarium_checking.layers import CheckPage, Layer, Opinion, PageOpinions
from armarium_checking.readings import begin_agreement, correct_reading, find_reading, lines_of_page
from armarium_checking.schemas import CheckArgs
from armarium_reading.api import ModelRequest, Subject, ask_in_job

PROMPT = (
    "These are the readings of the lines of a page{language}, each with its id in brackets. Say of each whether it can "
    "stand: confirm; correct, with the corrected line, keeping the spelling of the source; or reject, where it makes no "
    "sense and you cannot mend it. Give your reasons in a sentence. Leave out those that you cannot judge."
)


def begin_asking(job: JobContext) -> CheckPage:
    """The checker that is a model of the run's provider."""
    return _ask_about_page


def _ask_about_page(job: JobContext, page_id: str) -> PageOpinions:
    args: CheckArgs = job.args
    lines = [line for line in lines_of_page(job, page_id) if line.text.strip()]
    if not lines:
        return PageOpinions(0, [])
    request = ModelRequest(
        provider=args.provider,
        model=args.model,
        prompt=args.prompt or PROMPT.format(language=f" in {args.language}" if args.language else ""),
        material="\n".join(f"[{line.reading_id}] {' '.join(line.text.split())}" for line in lines),
        subject=Subject(page_id),
        use_case=job.kind.name,
        pages_may_leave=args.pages_may_leave,
    )
    asked = ask_in_job(job, request, verdicts_on([line.reading_id for line in lines]))
    said = {one.id: one for one in asked.answer.verdicts}
    found = [_opinion(line, said[line.reading_id]) for line in lines if line.reading_id in said]
    return PageOpinions(len(lines), [one for one in found if one is not None], asked.episode_id)


def _opinion(line: Line, said: Any) -> Opinion | None:
    """None where a correction was said to be needed and none was given."""
    reasons = said.reasons.strip() or "The model gave no reasons."
    if said.verdict != "correct":
        return Opinion(line.reading_id, said.verdict, reasons)
    mended = " ".join((said.correction or "").split())
    if not mended or mended == line.text:
        return None
    return Opinion(line.reading_id, "correct", reasons, mended)


def verdicts_on(ids: Sequence[str]) -> type[BaseModel]:
    """Verdicts on readings of *ids*."""
    one_of: Any = Literal[tuple(ids)]
    words: Any = Annotated[str, Field(max_length=10_000)]
    verdict: Any = Literal["confirm", "correct", "reject"]
    one = create_model(
        "VerdictOnLine",
        id=(one_of, ...),
        verdict=(verdict, ...),
        reasons=(words, ...),
        correction=(words | None, None),
    )
    verdicts: Any = Annotated[list[one], Field(max_length=len(ids))]  # type: ignore[valid-type]
    return create_model("VerdictsOnLines", verdicts=(verdicts, ...))


READINGS = Layer(
    name="readings",
    find=find_reading,
    checkers={("builtin", "agreement"): begin_agreement},
    replace=correct_reading,
    ask=begin_asking,
)
