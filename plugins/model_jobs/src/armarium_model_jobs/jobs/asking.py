"""What all jobs that ask a model share: collect the lines that may be sent, ask, and mark what is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from armarium.api import JobContext, PageSkipped, PageWithheld, PageWork, ServiceError, origin_of
from armarium_model_jobs.queries import Line, PageLines, lines_of
from armarium_reading.api import ModelAnswer, ModelRequest, Picture, Subject, ask_in_job

SYSTEM = "You work on sources of an archive. Answer only with what was asked for, and invent nothing."


def one_of(ids: Iterable[str]) -> Any:
    """Return the type of an answer that names one of *ids* and nothing else."""
    return Literal[tuple(dict.fromkeys(ids))]


def page_lines(job: JobContext, page_id: str) -> PageLines:
    """Return the lines of the page; PageSkipped if none has words. The gateway checks whether a model may see them."""
    with job.library.db.read() as conn:
        found = lines_of(conn, page_id)
    if not found.lines:
        raise PageSkipped("No line of the page has text yet; read its lines first.")
    return found


def as_material(lines: Iterable[Line], offered: Iterable[str] | None = None) -> str:
    """Return the lines of text, each preceded by its id, or by a dash if it is shown but not *offered* for change."""
    named = None if offered is None else set(offered)
    return "\n".join(
        f"[{line.segment_id if named is None or line.segment_id in named else '-'}]{_place(line)} {line.text}"
        for line in lines
    )


def _place(line: Line) -> str:
    if not line.cell:
        return ""
    return f" (row {line.cell.get('row', 0) + 1}, column {line.cell.get('column', 0) + 1})"


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


def with_prompt(task: str, job: JobContext) -> str:
    """Return the instructions of the job, followed by those of the settings."""
    return f"{task}\n\n{job.args.prompt}" if job.args.prompt else task


def readings_work(
    page_id: str, pass_id: str | None, kind: str, asked: Sequence[ModelAnswer[Any]], texts: dict[str, str]
) -> PageWork:
    """Return *texts*, by segment, as readings of the model that was asked."""
    return PageWork(
        "reading.take",
        {
            "document_id": page_id,
            "pass_id": pass_id,
            "provider": asked[0].provider,
            "model": asked[0].model,
            "kind": kind,
            "readings": [{"segment_id": key, "text": text} for key, text in texts.items()],
        },
        output={"pass_id": pass_id, "kind": kind},
        answers=("representation_ids",),
    )


def artifact_work(
    job: JobContext,
    page_id: str,
    page: PageLines,
    asked: ModelAnswer[Any],
    artifact_type: str,
    content: str,
    **data: Any,
) -> PageWork:
    """Return an artifact of the page that names the call and the text it was made from."""
    marks = {
        "pass_id": page.pass_id,
        "episode_id": asked.episode_id,
        "text_fingerprint": page.fingerprint,
        "cut": asked.cut,
    }
    origin = origin_of(job)
    return PageWork(
        "artifact.create",
        {
            "document_id": page_id,
            "artifact_type": artifact_type,
            "content": content,
            "data": {**data, **marks},
            "workflow_id": origin.workflow_id,
            "step_name": origin.step_name or job.kind.name,
            "provider": asked.provider,
            "model": asked.model,
        },
        output={"text": content, **data},
        answers=("id",),
    )
