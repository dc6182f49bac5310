"""The jobs that find lines: by the reader that is named, else by the one that leaves out less of a folder's writing."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from armarium.api import WORKER_GONE, Database, JobContext, PageSkipped, ServiceError
from armarium_reading.finders import SAMPLE, SURE, FinderTrial, left_out, settle_finder, sureness
from armarium_reading.fitting import spread
from armarium_reading.found_lines import found_lines
from armarium_reading.jobs.pages import PageAnswer, PageJob, question
from armarium_reading.readers import Choice, who_finds_lines

_tried: WeakKeyDictionary[Database, dict[tuple[str | None, str], dict[str, FinderTrial]]] = (
    WeakKeyDictionary()
)


class FindLines(PageJob):
    """Lines of pages, as a new pass for each page."""

    method = "find_lines"

    def __init__(self, ctx: JobContext) -> None:
        super().__init__(ctx)
        self._taken: dict[str | None, Choice] = {}
        self._asked: dict[str, PageAnswer] = {}

    def choose(self) -> list[Choice]:
        if self.method != "find_lines":
            return super().choose()
        return who_finds_lines(self.ctx.engine, self.ctx.library, self.args.reader, self.args.model)

    def ask(self, document_id: str) -> PageAnswer:
        if len(self.choices) == 1:
            return super().ask(document_id)
        folder = self.folder_of.get(document_id)
        if folder not in self._taken:
            self._taken[folder] = self._settle(folder)
        # What was asked of a sample page is not asked again.
        return self._asked.pop(document_id, None) or self.ask_of(self._taken[folder], document_id)

    def _settle(self, folder: str | None) -> Choice:
        """Return who finds the lines of a folder, by a few of its pages: of this job, and those that earlier jobs of this caller tried."""
        key = (folder, self.ctx.principal.name)
        tried = _tried.setdefault(self.ctx.library.db, {}).setdefault(key, {})
        pages = [page for page in self.args.page_ids if self.folder_of.get(page) == folder]
        answers: dict[str, list[PageAnswer]] = {}
        for page in [pages[number] for number in spread(len(pages), SAMPLE)] if len(tried) < SAMPLE else ():
            try:
                answers[page] = [self.ask_of(self.choices[0], page)]
                tried[page] = FinderTrial(sureness(answers[page][0].found["lines"]))
                if tried[page].sure < SURE:
                    answers[page].append(self.ask_of(self.choices[1], page))
                    mine, other = (answer.found["lines"] for answer in answers[page])
                    tried[page] = tried[page]._replace(left_out=left_out(mine, other))
            except (PageSkipped, ServiceError) as why:
                # When its turn comes, the page says so itself.
                if isinstance(why, ServiceError) and why.code in WORKER_GONE:
                    raise
        number, reason = settle_finder(list(tried.values()), [choice.reader.label for choice in self.choices])
        self._asked |= {
            page: page_answers[number] for page, page_answers in answers.items() if number < len(page_answers)
        }
        self.ctx.log("info", reason, reader=self.choices[number].reader.name)
        return self.choices[number]

    def ledger_entry(self, answer: PageAnswer) -> tuple[str, str, int]:
        lines = sum(line["kind"] == "line" for line in answer.found["lines"])
        regions = len(answer.found["lines"]) - lines
        return question("Find the lines of", answer), f"{lines} lines, {regions} regions", lines

    def write(self, document_id: str, answer: PageAnswer, progress: dict[str, Any]) -> None:
        if len(self.choices) > 1:
            name, pages = answer.choice.reader.name, progress.get("by_finder", {})
            progress["by_finder"] = {**pages, name: pages.get(name, 0) + 1}
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
            checkpoint=lambda answer: self.keep(progress, answer["pass_id"]),
            done=progress["next"],
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
