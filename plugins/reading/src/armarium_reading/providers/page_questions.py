"""What jobs share that ask a model about a page: the call, types of answers, and the artifact that one becomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from armarium.api import JobContext, PageWithheld, PageWork, ServiceError, origin_of
from armarium_reading.caller import Subject
from armarium_reading.providers.asking import ModelAnswer, ModelRequest
from armarium_reading.providers.in_jobs import ask_in_job
from armarium_reading.providers.wire import Picture

SYSTEM = "You work on sources of an archive. Answer only with what was asked for, and invent nothing."


def one_of(words: Iterable[str]) -> Any:
    """Return the type of an answer that can only be one of *words*."""
    return Literal[tuple(dict.fromkeys(words))]


def with_prompt(task: str, job: JobContext) -> str:
    """Return the instructions of the job, followed by those of the settings."""
    return f"{task}\n\n{job.args.prompt}" if job.args.prompt else task


def ask_about(
    job: JobContext,
    page_id: str,
    prompt: str,
    answer: type[BaseModel] | None,
    *,
    material: str | None = None,
    pictures: Sequence[Picture] = (),
) -> ModelAnswer[Any]:
    """Ask the model in the job's settings about a page, through the gateway.

    Raises PageWithheld if rights forbid it, and RetryLater, which postpones the job, if the provider is busy.
    """
    args = job.args
    request = ModelRequest(
        provider=args.provider,
        model=args.model,
        prompt=prompt,
        system=SYSTEM,
        material=material,
        subject=Subject(page_id),
        use_case=job.kind.name,
        pictures=tuple(pictures),
        pages_may_leave=args.pages_may_leave,
    )
    try:
        return ask_in_job(job, request, answer)
    except ServiceError as error:
        if error.code == "rights_restricted":
            raise PageWithheld(error.detail) from error
        raise


def artifact_work(
    job: JobContext,
    page_id: str,
    answer: ModelAnswer[Any],
    artifact_type: str,
    content: str,
    made_from: Mapping[str, Any],
    **data: Any,
) -> PageWork:
    """Return an artifact of the page that names the call and what it was *made_from*."""
    origin = origin_of(job)
    params = {
        "document_id": page_id,
        "artifact_type": artifact_type,
        "content": content,
        "data": {**data, "episode_id": answer.episode_id, "cut": answer.cut, **made_from},
        "workflow_id": origin.workflow_id,
        "step_name": origin.step_name or job.kind.name,
        "provider": answer.provider,
        "model": answer.model,
    }
    return PageWork("artifact.create", params, output={"text": content, **data}, answers=("id",))
