"""The background work of readers: finding lines, reading lines, reading whole pages.

A job works page by page. Each page is one call of a worker process and one step with the checkpoint in its
transaction; while that step is written, the worker is already busy with the next page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from armarium.api import (
    Invalid,
    JobContext,
    PageSkipped,
    PageWithheld,
    ServiceError,
    nothing_done,
    now,
    open_image,
)
from armarium_documents.api import PageImage, documents, page_image, still_image
from armarium_reading import ledger
from armarium_reading.caller import Caller, Subject
from armarium_reading.confidence import Confidence
from armarium_reading.fitting import add_page, outcome, why_chosen
from armarium_reading.found_lines import found_lines
from armarium_reading.handwriting import outline_of, page_score
from armarium_reading.ledger import ModelCall
from armarium_reading.permission import passing_over_restricted, refuse_withheld_page
from armarium_reading.readers import Choice, choose
from armarium_reading.schemas.reading import ReadingArgs
from armarium_worker import WorkerStopped

MAX_FAILED = 1000
"""How many failed pages a job's result names; its log contains all of them."""

GONE = frozenset({"worker_died", "engine_stopping"})
"""Codes of refusals that mean there is no worker: they fail the job, not the page."""


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
        total = len(self.args.page_ids)
        self.ctx.progress(self.kept["next"], total)
        for index, document_id, answer in self._read_ahead():
            kept = {**self.kept, "next": index + 1, "failed": list(self.kept["failed"])}
            try:
                with passing_over_restricted():
                    given = answer.result()
                lines = self.record(document_id, given)
                kept["pages"] += 1
                kept["lines"] += lines
                self._assess(document_id, given, kept)
                if not lines and self.method != "read_lines":
                    self._name_page("without_lines", document_id, kept)
                with passing_over_restricted():
                    self.write(document_id, given, kept)
            except WorkerStopped:
                self.ctx.check()
                raise
            except PageSkipped as skipped:
                kept = {"why": str(skipped), **self.kept, "next": index + 1}
                kept["skipped"] += 1
                if isinstance(skipped, PageWithheld):
                    kept.setdefault("withheld", str(skipped))
                self._pass_over(document_id, str(skipped), kept, "info")
            except ServiceError as refusal:
                if refusal.code in GONE:
                    raise
                kept = {**self.kept, "next": index + 1, "failed": list(self.kept["failed"])}
                if len(kept["failed"]) < MAX_FAILED:
                    name = self._name(document_id)
                    kept["failed"].append({"document_id": document_id, "name": name, "why": refusal.detail})
                self._pass_over(document_id, refusal.detail, kept, "warning")
            self.kept = kept
            self.ctx.check()
        if self.kept["failed"] and not self.kept["pages"]:
            # Nothing was written: whoever retries it when the cause is mended wants all of its pages done.
            self.ctx.save({})
            why = self.kept["failed"][0]["why"]
            raise Invalid(
                why if total == 1 else f"No page could be done. The first: {why}", code="all_failed"
            )
        self.ctx.remark = nothing_done(self.kept, total)
        done = {key: self.kept[key] for key in ("pages", "lines", "skipped", "failed")}
        if self.method != "read_lines":
            done |= {key: self.kept[key] for key in ("without_lines", "without_lines_count")}
        done |= {key: self.kept[key] for key in ("why", "withheld", "output") if key in self.kept}
        if self.method == "find_lines":
            return done
        return {
            **done,
            **self._who_read(),
            "confidence": Confidence(**self.kept["confidence"]).as_answer(),
            "by_hand": self.kept["by_hand"],
            "by_hand_count": self.kept["by_hand_count"],
        }

    def _who_read(self) -> dict[str, Any]:
        """Return the reader and its model; if several tried, also which of them read pages, and why."""
        by_reader = outcome(self.kept["by_reader"])
        most = max(by_reader, key=lambda name: int(by_reader[name]["pages"]), default=None)
        who = next((choice for choice in self.choices if choice.reader.name == most), self.choices[0])
        said = {"reader": who.reader.name, "model": who.model_name}
        return {**said, "by_reader": by_reader, "by_line": self.kept["by_line"]} if by_reader else said

    def ask(self, document_id: str) -> PageAnswer:
        """Call the worker for one page; runs in a thread of its own."""
        refuse_withheld_page(self.ctx, document_id, "local-model")
        picture = self._picture(document_id)
        started_at = now()
        (choice,) = self.choices
        found = self.call(choice, picture, {})
        hand = self.look(picture, found.get("lines", []))
        return PageAnswer(picture, started_at, found, choice, handwriting=hand)

    def look(self, picture: PageImage, lines: Sequence[dict[str, Any]]) -> float | None:
        """Return how handwritten *lines* look, if their reader is meant for print only and none for hands was tried on them."""
        if self.method == "find_lines" or any("hand" in one.reader.writing for one in self.choices):
            return None
        outlines = [outline_of(line) for line in lines if line.get("kind", "line") == "line"]
        limit = self.ctx.engine.settings.max_image_pixels
        with still_image(self.ctx.library, picture) as path:
            return page_score(open_image(path, max_pixels=limit), outlines)

    def readings(self, answer: PageAnswer) -> list[dict[str, Any]]:
        """Return the readings of a page's lines, {text, confidence?} each."""
        return []

    def _assess(self, document_id: str, answer: PageAnswer, kept: dict[str, Any]) -> None:
        """Add a page to the summary in the job's result: how confident the reader was, and which pages look
        handwritten.
        """
        readings = self.readings(answer)
        total, page = Confidence(**kept["confidence"]), Confidence()
        total.add(readings)
        page.add(readings)
        kept["confidence"] = total.as_checkpoint()
        if answer.expected is not None:
            kept["by_reader"] = add_page(kept["by_reader"], answer.choice, answer.expected)
            kept["by_line"] = dict(Counter(kept["by_line"]) + Counter(answer.departed))
            name, expected = answer.choice.reader.name, dict(answer.expected)
            said = why_chosen(name, expected, answer.folder or expected)
            self.ctx.log("info", said, document_id=document_id, reader=name, expected=expected)
        if answer.handwriting is not None and answer.handwriting > 0 and not page.is_sure:
            self._name_page("by_hand", document_id, kept)

    def _name_page(self, key: str, document_id: str, kept: dict[str, Any]) -> None:
        kept[f"{key}_count"] += 1
        if len(kept[key]) < MAX_FAILED:
            kept[key] = [*kept[key], {"document_id": document_id, "name": self._name(document_id)}]

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

    def keep(self, kept: dict[str, Any], pass_id: str | None) -> dict[str, Any]:
        """Return *kept*; for a job on a single page, extended by what the next node of a workflow needs to know."""
        if len(self.args.page_ids) == 1:
            kept["output"] = {"pass_id": pass_id}
        return kept

    @abstractmethod
    def write(self, document_id: str, answer: PageAnswer, kept: dict[str, Any]) -> None:
        """Write the page's one step, with the checkpoint in its transaction."""

    def _read_ahead(self) -> Iterator[tuple[int, str, Future[PageAnswer]]]:
        """Yield the pages in order, each with its pending answer; the worker stays one page ahead of the writing."""
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
                yield index, pages[index], present
                self.ctx.check()

    def _pass_over(self, document_id: str, why: str, kept: dict[str, Any], level: Any) -> None:
        self.ctx.log(level, why, document_id=document_id)
        self.ctx.save(kept, done=kept["next"], total=len(self.args.page_ids))

    def _picture(self, document_id: str) -> PageImage:
        with self.ctx.library.db.read() as conn:
            return page_image(self.ctx.library, conn, document_id)

    def _name(self, document_id: str) -> str | None:
        with self.ctx.library.db.read() as conn:
            return conn.execute(select(documents.c.name).where(documents.c.id == document_id)).scalar()


class FindLines(PageJob):
    """Lines of pages, as a new pass for each page."""

    method = "find_lines"

    def ledger_entry(self, answer: PageAnswer) -> tuple[str, str, int]:
        lines = sum(line["kind"] == "line" for line in answer.found["lines"])
        regions = len(answer.found["lines"]) - lines
        return question("Find the lines of", answer), f"{lines} lines, {regions} regions", lines

    def write(self, document_id: str, answer: PageAnswer, kept: dict[str, Any]) -> None:
        self.ctx.act(
            "segment.take_lines",
            {
                "document_id": document_id,
                "rendition_id": answer.picture.rendition_id,
                "name": self.args.name or f"Lines by {answer.choice.reader.label}",
                "provider": answer.choice.reader.name,
                "model": answer.choice.model_name,
                "lines": found_lines(answer.found, answer.picture),
            },
            checkpoint=lambda answer: self.keep(kept, answer["pass_id"]),
            done=kept["next"],
            total=len(self.args.page_ids),
        )


class ReadPage(FindLines):
    """Lines of pages with their readings."""

    method = "read_page"

    def readings(self, answer: PageAnswer) -> list[dict[str, Any]]:
        return [line["reading"] for line in answer.found["lines"] if line["kind"] == "line"]

    def ledger_entry(self, answer: PageAnswer) -> tuple[str, str, int]:
        texts = [reading["text"] for reading in self.readings(answer)]
        return question("Find and read the lines of", answer), "\n".join(texts), len(texts)


def question(what: str, answer: PageAnswer) -> str:
    """Return the question as the ledger records it."""
    return f"{what} a page of {answer.picture.width} x {answer.picture.height} pixels."
