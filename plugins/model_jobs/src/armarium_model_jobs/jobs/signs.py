"""Signs that a model identifies from their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from armarium.api import JobContext, PageSkipped, PageWork, find_withheld
from armarium_model_jobs.jobs.pictures import part_pictures
from armarium_model_jobs.queries import DESCRIPTION, signs_of, single_spaced, texts_of
from armarium_reading.api import ask_about, one_of, with_prompt
from armarium_source_model.api import armarium_source_model_declared_signs

SIGNS_AT_ONCE = 16
"""How many pictures are sent in one call."""
MOST_NAMES = 300
"""The most names of declared signs that are sent in one call."""

IDENTIFY = (
    "The pictures show signs of one page of a source: marks of notaries, abbreviations, marginal signs and the like. In "
    "order, their ids are:\n{ids}\nSay of each that you know what it is, in at most a sentence. Leave out those that you "
    "do not know."
)
NAMES = "\n\nSigns of these names are declared; where a picture shows one of them, answer its name exactly as given here:\n{names}"


def identify(job: JobContext, page_id: str) -> PageWork | None:
    """Return what the model takes each sign of the page to be; signs already identified are not shown."""
    with job.library.db.read() as conn:
        pass_id, signs = signs_of(conn, page_id)
        descriptions = texts_of(conn, pass_id, DESCRIPTION) if pass_id is not None else {}
    signs = [sign for sign in signs if sign.id not in descriptions]
    if not signs:
        raise PageSkipped("The page has no unidentified signs; find its signs first.")
    names = _declared_names(job)
    known_names = NAMES.format(names="\n".join(names)) if names else ""
    answers, texts = [], dict[str, str]()
    for start in range(0, len(signs), SIGNS_AT_ONCE):
        batch = signs[start : start + SIGNS_AT_ONCE]
        ids = [sign.id for sign in batch]
        prompt = with_prompt(
            IDENTIFY.format(ids="\n".join(f"[{segment_id}]" for segment_id in ids)) + known_names, job
        )
        pictures = part_pictures(job, page_id, batch)
        answers.append(ask_about(job, page_id, prompt, build_answer_model(ids), pictures=pictures))
        texts |= {sign.id: single_spaced(sign.is_a) for sign in answers[-1].answer.signs}
    texts = {key: text for key, text in texts.items() if text}
    if not texts:
        raise PageSkipped("The model recognised none of the signs.")
    return PageWork(
        "model_jobs.take_signs",
        {
            "document_id": page_id,
            "pass_id": pass_id,
            "provider": answers[0].provider,
            "model": answers[0].model,
            "signs": [{"segment_id": key, "is_a": text} for key, text in texts.items()],
        },
        output={"pass_id": pass_id, "kind": DESCRIPTION},
        answers=("representation_ids", "declared", "instance_ids"),
    )


def _declared_names(job: JobContext) -> list[str]:
    """Return the names of the declared signs, except those whose every place is withheld from a model on
    another machine.
    """
    with job.library.db.read() as conn:
        signs = [
            sign
            for signs in job.engine.points.ask(armarium_source_model_declared_signs, conn)
            for sign in signs
        ]
    hidden = find_withheld(
        job.library, job.principal, {place for sign in signs for place in sign["segment_ids"]}, "cloud-model"
    )
    sign_names = (
        single_spaced(sign["name"]) for sign in signs if not hidden.keys() >= set(sign["segment_ids"])
    )
    return list(dict.fromkeys(sign_names))[:MOST_NAMES]


def build_answer_model(ids: Sequence[str]) -> type[BaseModel]:
    """Return the type of an answer that says what signs of *ids* are and cannot name any other sign."""
    is_a: Any = Annotated[str, Field(max_length=500)]
    sign = create_model("IdentifiedSign", id=(one_of(ids), ...), is_a=(is_a, ...))
    signs: Any = Annotated[list[sign], Field(max_length=len(ids))]  # type: ignore[valid-type]
    return create_model("IdentifiedSigns", signs=(signs, ...))
