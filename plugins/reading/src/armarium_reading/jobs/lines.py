"""The job that reads existing lines: by the reader of the page, and some by a reader of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection

from armarium.api import WORKER_GONE, Database, JobContext, PageSkipped, ServiceError, now
from armarium_documents.api import PageImage
from armarium_reading.evidence import on_picture
from armarium_reading.fitting import (
    CLEAR_OF_LINE,
    PAGES,
    SAMPLE,
    Expected,
    Trial,
    doubtful,
    expect,
    mean,
    settle,
    spread,
)
from armarium_reading.jobs.pages import PageAnswer, PageJob, question
from armarium_reading.own_readers import own_choices
from armarium_reading.permission import refuse_withheld_page
from armarium_reading.providers.served_reader import who_reads_lines
from armarium_reading.queries.reading import lines_of
from armarium_reading.readers import Choice
from armarium_source_model.api import confirmed_lines, undecided_lines, unread_lines, working_pass

_tried: WeakKeyDictionary[Database, dict[tuple[str | None, ...], dict[str, Expected]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of a page that are to be read: their shapes by their ids, and the own reader of each that has one."""

    picture: PageImage
    pass_id: str
    shapes: dict[str, dict[str, Any]]
    own: dict[str, Choice]


class ReadLines(PageJob):
    """Readings of lines that already exist."""

    method = "read_lines"

    def __init__(self, ctx: JobContext) -> None:
        super().__init__(ctx)
        self._sampled: set[str | None] = set()
        self._trials: dict[str, Trial] = {}

    def choose(self) -> list[Choice]:
        return who_reads_lines(self.ctx.engine, self.ctx.library, self.args)

    def ask(self, document_id: str) -> PageAnswer:
        started_at, page = now(), self._lines_of(document_id)
        lines = [line for line in page.shapes if line not in page.own]
        choice, trial, expected, folder = self.choices[0], None, None, None
        if len(self.choices) > 1 and lines:
            self._try_folder(document_id)
            trial = self._try(document_id, page)
            expected = trial.expects(self.choices)
            folder = mean(list(self._tried_in(self.folder_of[document_id]).values()))
            choice = settle(self.choices, expected, folder)
        read = dict(trial.of(choice)) if trial is not None else {}
        fresh, seconds = self._read_some(choice, page, [line for line in lines if line not in read])
        read |= fresh
        own, by_own = dict(page.own), []
        if trial is not None:
            for other, better, taken in self._better(choice, page, trial, read):
                read |= better
                own |= dict.fromkeys(better, other)
                by_own.append((other, list(better), taken))
        departed = Counter(other.reader.name for line, other in own.items() if line not in page.own)
        for other in dict.fromkeys(page.own.values()):
            mine = [line for line in page.shapes if page.own.get(line) == other]
            # Never a provider's model: only a reader on this machine reads a line in place of the page's
            # reader.
            answer = PageJob.call(self, other, page.picture, {"lines": [page.shapes[line] for line in mine]})
            read |= zip(mine, answer["readings"], strict=True)
            by_own.append((other, mine, float(answer.get("seconds", 0.0))))
        return PageAnswer(
            page.picture,
            started_at,
            {
                "readings": [read[line] for line in page.shapes],
                "seconds": seconds,
                "own": [
                    (other, [line for line in mine if own[line] == other], taken)
                    for other, mine, taken in by_own
                ],
            },
            choice,
            page.pass_id,
            tuple(page.shapes),
            self.look(page.picture, [page.shapes[line] for line in lines]) if lines else None,
            expected,
            own,
            folder,
            departed,
        )

    def _lines_of(self, document_id: str) -> PageLines:
        """Return the lines of a page that are to be read. PageSkipped if there are none."""
        refuse_withheld_page(self.ctx, document_id, "local-model")
        picture = self._picture(document_id)
        with self.ctx.library.db.read() as conn:
            pass_id = self.args.pass_id or working_pass(conn, document_id)[0]
            if pass_id is None:
                raise PageSkipped("The page has no lines yet; find them first.")
            ids, shapes = lines_of(conn, pass_id, picture.width, picture.height)
            if ids:
                ids, shapes = self._select(conn, pass_id, ids, shapes)
            own = own_choices(self.ctx, conn, ids) if self.heeds_own_readers() else {}
        if not ids:
            raise PageSkipped("The page has no lines to read.")
        return PageLines(picture, pass_id, dict(zip(ids, shapes, strict=True)), own)

    def _read_some(
        self, choice: Choice, page: PageLines, lines: Sequence[str]
    ) -> tuple[dict[str, dict[str, Any]], float]:
        """Return the readings of some lines of a page, and the seconds they took."""
        if not lines:
            return {}, 0.0
        request: dict[str, Any] = {"lines": [page.shapes[line] for line in lines], "segment_ids": list(lines)}
        if self.args.alternatives:
            request["alternatives"] = self.args.alternatives
        answer = self.call(choice, page.picture, request)
        return dict(zip(lines, answer["readings"], strict=True)), float(answer.get("seconds", 0.0))

    def _try(self, document_id: str, page: PageLines) -> Trial:
        """Return what every reader reads of a few lines of a page, that its folder's trial has read already if it has."""
        earlier_trial = self._trials.pop(document_id, None)
        if earlier_trial is not None and earlier_trial.shapes.items() <= page.shapes.items():
            return earlier_trial
        lines = [line for line in page.shapes if line not in page.own]
        sample = [lines[number] for number in spread(len(lines), SAMPLE)]
        readings = {choice.reader.name: self._read_some(choice, page, sample)[0] for choice in self.choices}
        trial = Trial({line: page.shapes[line] for line in sample}, readings)
        self._tried_in(self.folder_of[document_id])[document_id] = trial.expects(self.choices)
        return trial

    def _tried_in(self, folder: str | None) -> dict[str, Expected]:
        """Return what these readers expected of each page of a folder that they tried since the project was opened.

        For this caller alone: what others tried may be withheld from it.
        """
        readers = [f"{choice.reader.name}:{choice.model_name}" for choice in self.choices]
        key = (folder, self.ctx.principal.name, *readers)
        return _tried.setdefault(self.ctx.library.db, {}).setdefault(key, {})

    def _try_folder(self, document_id: str) -> None:
        """Try some pages of this job in the folder of a page, unless that was done.

        A run that reads each page in a job of its own goes on with what its earlier jobs found.
        """
        folder = self.folder_of[document_id]
        if folder not in self._sampled and len(self._tried_in(folder)) < PAGES:
            self._sampled.add(folder)
            pages = [page for page in self.args.page_ids if self.folder_of[page] == folder]
            # The first page last: a reader keeps the picture that it decoded last, and this one is read next.
            for page in [pages[number] for number in reversed(spread(len(pages), PAGES))]:
                try:
                    lines = self._lines_of(page)
                    if len(lines.own) < len(lines.shapes):
                        self._trials[page] = self._try(page, lines)
                except (PageSkipped, ServiceError) as why:
                    # When its turn comes, the page says so itself.
                    if isinstance(why, ServiceError) and why.code in WORKER_GONE:
                        raise

    def _better(
        self, choice: Choice, page: PageLines, trial: Trial, read: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[tuple[Choice, dict[str, Mapping[str, Any]], float]]:
        """Yield the lines that another reader is clearly better at than the page's, with its readings and the seconds it took."""
        shares = {line: expect(choice, reading) for line, reading in read.items()}
        doubted = doubtful(shares, is_mixed=trial.is_mixed(self.choices, choice))
        least = {line: shares[line] + CLEAR_OF_LINE for line in doubted}
        for other in self.choices if doubted else ():
            if other == choice:
                continue
            trial_result = trial.of(other)
            fresh, seconds = self._read_some(
                other, page, [line for line in doubted if line not in trial_result]
            )
            tried = {line: {**trial_result, **fresh}[line] for line in doubted}
            expected = {line: expect(other, reading) for line, reading in tried.items()}
            better = {line: reading for line, reading in tried.items() if expected[line] > least[line]}
            least |= {line: expected[line] for line in better}
            yield other, better, seconds

    def _select(
        self, conn: Connection, pass_id: str, ids: list[str], shapes: list[dict[str, Any]]
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """Return the lines that are to be read. PageSkipped if there are none.

        A line whose reading a person confirmed keeps it: a newer one of a machine would count in its place.
        """
        selected = set(ids)
        if self.args.lines == "unread":
            selected = unread_lines(conn, pass_id)
        elif self.args.lines == "unchecked":
            selected = undecided_lines(conn, pass_id)
        selected -= confirmed_lines(self.ctx.engine, conn, ids)
        if not selected:
            raise PageSkipped(
                "Every line of the page has already been read."
                if self.args.lines == "unread"
                else "A person made or checked every line of the page."
            )
        chosen = [(line, shape) for line, shape in zip(ids, shapes, strict=True) if line in selected]
        return [line for line, _ in chosen], [shape for _, shape in chosen]

    def heeds_own_readers(self) -> bool:
        """Return whether lines with a reader of their own are read by it: as requested, by default if no
        reader was named.
        """
        if self.args.own_readers is not None:
            return self.args.own_readers
        return self.args.reader is None and self.args.provider is None

    def record(self, document_id: str, answer: PageAnswer) -> int:
        """Record the calls in the ledger, including those of lines' own readers; return how many lines were read."""
        if len(answer.own) < len(answer.segment_ids):
            super().record(document_id, answer)
        self.note_own(document_id, answer)
        return len(answer.segment_ids)

    def note_own(self, document_id: str, answer: PageAnswer) -> None:
        """Record in the ledger what lines' own readers read."""
        text_of = dict(zip(answer.segment_ids, self.readings(answer), strict=True))
        for choice, lines, seconds in answer.found["own"]:
            words = "\n".join(text_of[line]["text"] for line in lines)
            exchange = (question(f"Read {len(lines)} lines of their own of", answer), words)
            self.note_call(document_id, answer, choice, exchange, seconds)

    def readings(self, answer: PageAnswer) -> list[dict[str, Any]]:
        return list(answer.found["readings"])

    def ledger_entry(self, answer: PageAnswer) -> tuple[str, str, int]:
        texts = [
            reading["text"]
            for segment_id, reading in zip(answer.segment_ids, answer.found["readings"], strict=True)
            if segment_id not in answer.own
        ]
        return question(f"Read {len(texts)} lines of", answer), "\n".join(texts), len(texts)

    def run(self) -> dict[str, Any]:
        outcome = super().run()
        if empty := self.kept.get("empty", 0):
            words = f"{empty:,} of {self.kept['lines']:,} lines came back empty and have no reading of it."
            self.ctx.remark = f"{self.ctx.remark} {words}" if self.ctx.remark else words
        return outcome

    def write(self, document_id: str, answer: PageAnswer, progress: dict[str, Any]) -> None:
        others, readings = [], []
        empty = sum(not reading["text"] for reading in answer.found["readings"])
        progress["empty"] = progress.get("empty", 0) + empty
        for segment_id, reading in zip(answer.segment_ids, answer.found["readings"], strict=True):
            reader_fields = {"segment_id": segment_id, **_read_by(answer.own.get(segment_id))}
            others += [{**reader_fields, **alternative} for alternative in reading.get("alternatives", ())]
            if reading["text"]:
                fields = {
                    key: value for key, value in reading.items() if key not in ("alternatives", "places")
                }
                if "places" in reading:
                    fields["places"] = on_picture(reading["places"], answer.picture)
                readings.append({**reader_fields, **fields})
        self.ctx.act(
            "reading.take",
            {
                "document_id": document_id,
                "pass_id": answer.pass_id,
                "provider": answer.choice.reader.name,
                "model": answer.choice.model_name,
                # Of several readings in one step, the last one counts: the likeliest.
                "readings": [*reversed(others), *readings],
            },
            checkpoint=self.keep(progress, answer.pass_id),
            done=progress["next"],
            total=len(self.args.page_ids),
        )


def _read_by(own: Choice | None) -> dict[str, str]:
    """Return who read a line, if it is not the reader of the page's other lines."""
    return {} if own is None else {"provider": own.reader.name, "model": own.model_name}
