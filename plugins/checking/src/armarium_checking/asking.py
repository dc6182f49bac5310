"""Asks a provider's model about proposals: one call each, whose answer concerns only what the model was
shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from armarium.api import JobContext, ServiceError
from armarium_checking.hookspecs import Layer, Opinion, PagePart, Proposal
from armarium_checking.records.checks import CheckArgs
from armarium_reading.api import Caller, ModelRequest, Subject, ask, end_for_provider

AT_ONCE = 4
"""How many proposals of one page are asked about at a time; their verdicts are written in one step."""
OF_ONE = ("answer_not_valid", "rights_restricted")
"""Refusals that concern one proposal; after any other, the rest of the page is not asked about."""

Words = Annotated[str, Field(max_length=10_000)]


class VerdictOnOne(BaseModel):
    """A model's verdict on the one proposal it is shown; `unsure` if it cannot judge."""

    verdict: Literal["confirm", "correct", "reject", "unsure"]
    reasons: Words
    correction: Words | None = None


def ask_about_page(
    job: JobContext, layer: Layer, page_id: str, done_keys: Set[str], *, pictures: bool
) -> Iterator[PagePart]:
    """Yield the model's verdicts on the proposals of a page that are not among *done_keys*, a few at a time.

    Raises whatever prevents asking about the page at all (a provider that is disabled), and RetryLater if it
    is busy.
    """
    assert layer.show is not None
    waiting = [question for question in layer.show(job, page_id, pictures) if question.key not in done_keys]
    if not waiting:
        yield PagePart(0, [], answered=1, last=True)
    caller, noted = Caller.of_job(job), ""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="armarium-check") as pool:
        for first in range(0, len(waiting), AT_ONCE):
            job.check()
            batch = waiting[first : first + AT_ONCE]
            calls = [pool.submit(_ask_about, job, caller, layer, page_id, question) for question in batch]
            opinions: list[Opinion] = []
            keys: list[str] = []
            answered, ends = 0, None
            for question, call in zip(batch, calls, strict=True):
                try:
                    opinion = call.result()
                except ServiceError as refusal:
                    if refusal.code not in OF_ONE:
                        ends = ends or refusal
                        continue
                    keys.append(question.key)
                    if refusal.detail != noted:
                        noted = refusal.detail
                        job.log("warning", noted, document_id=page_id, target_id=question.target_id)
                    continue
                keys.append(question.key)
                answered += 1
                if opinion is not None:
                    opinions.append(opinion)
            last = first + AT_ONCE >= len(waiting)
            yield PagePart(len(keys), opinions, answered, last and ends is None, keys, noted)
            if ends is not None:
                end_for_provider(job, ends)
                raise ends


def _ask_about(
    job: JobContext, caller: Caller, layer: Layer, page_id: str, proposal: Proposal
) -> Opinion | None:
    args: CheckArgs = job.args
    language = f" The page is in {args.language}." if args.language else ""
    request = ModelRequest(
        provider=args.provider,
        model=args.model,
        prompt=(args.prompt or layer.prompt) + language,
        material=proposal.words,
        pictures=() if proposal.picture is None else (proposal.picture,),
        subject=Subject(page_id, proposal.segment_id, proposal.target_id, also=proposal.also),
        use_case=job.kind.name,
        pages_may_leave=args.pages_may_leave,
    )
    model = ask(caller, request, VerdictOnOne)
    opinion = model.answer
    mended = " ".join((opinion.correction or "").split())
    # A correction that is missing, or that changes nothing, is not an answer.
    if opinion.verdict == "unsure" or (opinion.verdict == "correct" and mended in ("", proposal.text)):
        return None
    return Opinion(
        proposal.target_id,
        opinion.verdict,
        opinion.reasons.strip() or "The model gave no reasons.",
        mended if opinion.verdict == "correct" else None,
        model.episode_id,
    )
