"""Signs that a model names by their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from armarium.api import JobContext, PageSkipped, PageWork
from armarium_model_jobs.jobs.asking import ask_about, one_of, readings_work, with_prompt
from armarium_model_jobs.jobs.pictures import part_pictures
from armarium_model_jobs.queries import signs_of, single_spaced, texts_of

SIGNS_AT_ONCE = 16
"""Pictures that one call shows."""
KIND = "description"
"""The kind of reading that says what a sign is."""

IDENTIFY = (
    "The pictures show signs of one page of a source: marks of notaries, abbreviations, marginal signs and the like. In "
    "order, their ids are:\n{ids}\nSay of each that you know what it is, in at most a sentence. Leave out those that you "
    "do not know."
)


def identify(job: JobContext, page_id: str) -> PageWork | None:
    """What the model takes each sign of the page for; signs of which that is known already are not shown."""
    with job.library.db.read() as conn:
        pass_id, signs = signs_of(conn, page_id)
        known = texts_of(conn, pass_id, KIND) if pass_id is not None else {}
    signs = [sign for sign in signs if sign.id not in known]
    if not signs:
        raise PageSkipped("The page has no signs that are not identified yet; find its signs first.")
    asked, texts = [], dict[str, str]()
    for start in range(0, len(signs), SIGNS_AT_ONCE):
        shown = signs[start : start + SIGNS_AT_ONCE]
        ids = [sign.id for sign in shown]
        prompt = with_prompt(IDENTIFY.format(ids="\n".join(f"[{one}]" for one in ids)), job)
        pictures = part_pictures(job, page_id, shown)
        asked.append(ask_about(job, page_id, prompt, identified(ids), pictures=pictures))
        texts |= {one.id: single_spaced(one.is_a) for one in asked[-1].answer.signs}
    texts = {key: text for key, text in texts.items() if text}
    if not texts:
        raise PageSkipped("The model knows none of the signs.")
    return readings_work(page_id, pass_id, KIND, asked, texts)


def identified(ids: Sequence[str]) -> type[BaseModel]:
    """An answer that says of signs of *ids* what they are, and can name no other."""
    is_a: Any = Annotated[str, Field(max_length=1_000)]
    sign = create_model("IdentifiedSign", id=(one_of(ids), ...), is_a=(is_a, ...))
    signs: Any = Annotated[list[sign], Field(max_length=len(ids))]  # type: ignore[valid-type]
    return create_model("IdentifiedSigns", signs=(signs, ...))
