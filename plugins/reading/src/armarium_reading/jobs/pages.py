"""The background work of readers: finding lines, reading lines, reading whole pages.

A job works page by page. Each page is one call of a worker process and one step with the checkpoint in its
transaction; while that step is written, the worker is already busy with the next page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from sqlalchemy import func, select

from armarium.api import (
    JobContext,
    each_page,
    json_text,
    name_document,
    now,
    open_image,
)
from armarium_documents.api import PageImage, documents, page_image, still_image
from armarium_reading import ledger
from armarium_reading.caller import Caller, Subject
from armarium_reading.confidence import Confidence
from armarium_reading.fitting import add_page, outcome, why_chosen
from armarium_reading.handwriting import page_score
from armarium_reading.ledger import ModelCall
from armarium_reading.permission import passing_over_restricted, refuse_withheld_page
from armarium_reading.readers import Choice, choose
from armarium_reading.schemas.reading import ReadingArgs
from armarium_source_model.api import outline_of
from armarium_worker import WorkerStopped

MAX_FAILED = 1000
"""How many pages without lines, or by hand, a job's result names; its log contains all of them."""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """What a worker returned for a page, and what is needed to write it."""

    picture: PageImage
    started_at: str
    found: dict[str, Any]
    choice: Choice
    pass_id: str | None = None
    segment_ids: tuple[str, ...] = ()
    handwriting: float | None = None
    """Above 0 the page looks handwritten; None if this was not determined (see `PageJob.assess`)."""
    expected: Mapping[str, float] | None = None
    """What each reader expected of the page, if several tried it."""
    own: Mapping[str, Choice] = field(default_factory=dict)
    """The reader of each line that is not read by the page's: its own, or one that is clearly better at it."""
    folder: Mapping[str, float] | None = None
    """What each reader expected of the pages of the folder."""
    departed: Mapping[str, int] = field(default_factory=dict)
    """How many lines were read by each reader that was clearly better at them."""


class PageJob(ABC):
    """One run of a job over pages; the three kinds differ in what they ask the worker and what they write."""

    method = ""

    def __init__(self, ctx: JobContext) -> None:
        self.ctx = ctx
        self.args: ReadingArgs = ctx.args
        self.choices = self.choose()
        self.kept: dict[str, Any] = {
            "next": 0,
            "pages": 0,
            "lines": 0,
            "failed": [],
            "skipped": 0,
            "by_hand": [],
            "by_hand_count": 0,
            "without_lines": [],
            "without_lines_count": 0,
            "confidence": Confidence().as_checkpoint(),
            "by_reader": {},
            "by_line": {},
            **ctx.checkpoint,
        }

    def choose(self) -> list[Choice]:
        """Choose who does the work, or who may read the lines; refused with a reason if nobody can."""
        assert self.args.reader is not None
        return [
            choose(
                self.ctx.engine,
                self.ctx.library,
                reader=self.args.reader,
                method=self.method,
                model=self.args.model,
                language=self.args.language,
            )
        ]

    def run(self) -> dict[str, Any]:
        """Do every remaining page; a page that fails is named in the result, and the others go on."""
        self.ctx.progress(self.kept["next"], len(self.args.page_ids))
        self.kept = each_page(self.ctx, self.kept, self._read_ahead())
        counts = {key: self.kept[key] for key in ("pages", "lines", "skipped", "failed")}
        if self.method != "read_lines":
            counts |= {key: self.kept[key] for key in ("without_lines", "without_lines_count")}
        counts |= {key: self.kept[key] for key in ("why", "withheld", "output") if key in self.kept}
        if self.method == "find_lines":
            return {**counts, **{key: self.kept[key] for key in ("by_finder",) if key in self.kept}}
        return {
            **counts,
            **self._who_read(),
            "confidence": Confidence(**self.kept["confidence"]).as_answer(),
            "by_hand": self.kept["by_hand"],
            "by_hand_count": self.kept["by_hand_count"],
        }

    def _write_page(
        self, document_id: str, answer: Future[PageAnswer], progress: dict[str, Any]
    ) -> dict[str, Any]:
        """Record and write what the worker made of a page, and add it to the summary in the job's result."""
        try:
            with passing_over_restricted():
                page_answer = answer.result()
        except WorkerStopped:
            self.ctx.check()
            raise
        lines = self.record(document_id, page_answer)
        progress["lines"] += lines
        self._assess(document_id, page_answer, progress)
        if not lines and self.method != "read_lines":
            self._name_page("without_lines", document_id, progress)
        with passing_over_restricted():
            self.write(document_id, page_answer, progress)
        return progress

    def _who_read(self) -> dict[str, Any]:
        """Return the reader and its model; if several tried, also which of them read pages, and why."""
        by_reader = outcome(self.kept["by_reader"])
        most = max(by_reader, key=lambda name: int(by_reader[name]["pages"]), default=None)
        choice = next((choice for choice in self.choices if choice.reader.name == most), self.choices[0])
        fields = {"reader": choice.reader.name, "model": choice.model_name}
        return {**fields, "by_reader": by_reader, "by_line": self.kept["by_line"]} if by_reader else fields

    def ask(self, document_id: str) -> PageAnswer:
        """Call the worker for one page; runs in a thread of its own."""
        return self.ask_of(self.choices[0], document_id)

    def ask_of(self, choice: Choice, document_id: str) -> PageAnswer:
        """Call the worker of a reader for one page."""
        refuse_withheld_page(self.ctx, document_id, "local-model")
        picture = self._picture(document_id)
        started_at = now()
        answer = self.call(choice, picture, {})
        hand = self.look(picture, answer.get("lines", []))
        return PageAnswer(picture, started_at, answer, choice, handwriting=hand)

    def look(self, picture: PageImage, lines: Sequence[dict[str, Any]]) -> float | None:
        """Return how handwritten *lines* look, if their reader is meant for print only and none for hands was tried on them."""
        if self.method == "find_lines" or any("hand" in choice.reader.writing for choice in self.choices):
            return None
        outlines = [outline_of(line) for line in lines if line.get("kind", "line") == "line"]
        limit = self.ctx.engine.settings.max_image_pixels
        with still_image(self.ctx.library, picture) as path:
            return page_score(open_image(path, max_pixels=limit), outlines)

    def readings(self, answer: PageAnswer) -> list[dict[str, Any]]:
        """Return the readings of a page's lines, {text, confidence?} each."""
        return []

    def _assess(self, document_id: str, answer: PageAnswer, progress: dict[str, Any]) -> None:
        """Add a page to the summary in the job's result: how confident the reader was, and which pages look
        handwritten.
        """
        readings = self.readings(answer)
        total, page = Confidence(**progress["confidence"]), Confidence()
        total.add(readings)
        page.add(readings)
        progress["confidence"] = total.as_checkpoint()
        if answer.expected is not None:
            progress["by_reader"] = add_page(progress["by_reader"], answer.choice, answer.expected)
            progress["by_line"] = dict(Counter(progress["by_line"]) + Counter(answer.departed))
            name, expected = answer.choice.reader.name, dict(answer.expected)
            why = why_chosen(name, expected, answer.folder or expected)
            self.ctx.log("info", why, document_id=document_id, reader=name, expected=expected)
        if answer.handwriting is not None and answer.handwriting > 0 and not page.is_sure:
            self._name_page("by_hand", document_id, progress)

    def _name_page(self, key: str, document_id: str, progress: dict[str, Any]) -> None:
        progress[f"{key}_count"] += 1
        if len(progress[key]) < MAX_FAILED:
            name = name_document(self.ctx, document_id)
            progress[key] = [*progress[key], {"document_id": document_id, "name": name}]

    def call(self, choice: Choice, picture: PageImage, more: dict[str, Any]) -> dict[str, Any]:
        """Call the worker once for a page's picture."""
        with still_image(self.ctx.library, picture) as path:
            return self.ctx.call_worker(
                choice.runtime,
                choice.target,
                self.method,
                {
                    "image": str(path),
                    "width": picture.width,
                    "height": picture.height,
                    **choice.params(self.args.language, self.ctx.engine.settings.max_image_pixels),
                    **{name: value for name, value in more.items() if name != "segment_ids"},
                },
            )

    def record(self, document_id: str, answer: PageAnswer) -> int:
        """Record the call in the ledger; return how many lines it gave."""
        prompt, output, lines = self.ledger_entry(answer)
        seconds = float(answer.found.get("seconds", 0.0))
        self.note_call(document_id, answer, answer.choice, (prompt, output), seconds)
        return lines

    def note_call(
        self, document_id: str, answer: PageAnswer, choice: Choice, exchange: tuple[str, str], seconds: float
    ) -> None:
        """Add an episode to the ledger: what *choice* was asked about a page, and what it answered."""
        ledger.record(
            Caller.of_job(self.ctx),
            ModelCall(
                use_case=self.ctx.kind.name,
                subject=Subject(document_id),
                provider=choice.reader.name,
                model=choice.model_name,
                exchange={"prompt": exchange[0], "output": exchange[1]},
                started_at=answer.started_at,
                seconds=seconds,
            ),
        )

    @abstractmethod
    def ledger_entry(self, answer: PageAnswer) -> tuple[str, str, int]:
        """Return the question and the answer for the ledger, and the number of lines."""

    def keep(self, progress: dict[str, Any], pass_id: str | None) -> dict[str, Any]:
        """Return *progress*; for a job on a single page, extended by what the next node of a workflow needs to know."""
        if len(self.args.page_ids) == 1:
            progress["output"] = {"pass_id": pass_id}
        return progress

    @abstractmethod
    def write(self, document_id: str, answer: PageAnswer, progress: dict[str, Any]) -> None:
        """Write the page's one step, with the checkpoint in its transaction."""

    def _read_ahead(self) -> Iterator[tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]]:
        """Yield the pages in order, each with what writes its answer; the worker stays one page ahead of the writing."""
        pages, first = self.args.page_ids, int(self.kept["next"])
        with ThreadPoolExecutor(1, thread_name_prefix="armarium-reading") as pool:
            coming = pool.submit(copy_context().run, self.ask, pages[first]) if first < len(pages) else None
            for index in range(first, len(pages)):
                assert coming is not None
                present, coming = coming, None
                # Wait for the answer, whatever it is.
                present.exception()
                if index + 1 < len(pages) and self.ctx.stop is None:
                    coming = pool.submit(copy_context().run, self.ask, pages[index + 1])
                yield pages[index], partial(self._write_page, pages[index], present)
                self.ctx.check()

    @cached_property
    def folder_of(self) -> dict[str, str | None]:
        """The folder of each page."""
        with self.ctx.library.db.read() as conn:
            pages = func.json_each(json_text(self.args.page_ids)).table_valued("value")
            query = select(documents.c.id, documents.c.parent_id).where(
                documents.c.id.in_(select(pages.c.value))
            )
            return {row.id: row.parent_id for row in conn.execute(query)}

    def _picture(self, document_id: str) -> PageImage:
        with self.ctx.library.db.read() as conn:
            return page_image(self.ctx.library, conn, document_id)


def question(what: str, answer: PageAnswer) -> str:
    """Return the question as the ledger records it."""
    return f"{what} a page of {answer.picture.width} x {answer.picture.height} pixels."
