"""The job that reads existing lines: by the reader of the page, and some by a reader of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import PageSkipped, now
from armarium_reading.evidence import on_picture
from armarium_reading.fitting import trial
from armarium_reading.jobs.pages import PageAnswer, PageJob, question
from armarium_reading.own_readers import own_choices
from armarium_reading.permission import refuse_withheld_page
from armarium_reading.providers.served_reader import who_reads_lines
from armarium_reading.queries.reading import lines_of
from armarium_reading.readers import Choice
from armarium_source_model.api import (
    confirmed_lines,
    undecided_lines,
    unread_lines,
    working_pass,
)


class ReadLines(PageJob):
    """Readings of lines that already exist."""

    method = "read_lines"

    def choose(self) -> list[Choice]:
        return who_reads_lines(self.ctx.engine, self.ctx.library, self.args)

    def ask(self, document_id: str) -> PageAnswer:
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
        started_at = now()

        def attempt(one: Choice, some: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
            return self.call(one, picture, {"lines": list(some)})

        others = [(one, shape) for one, shape in zip(ids, shapes, strict=True) if one not in own]
        lines = [shape for _, shape in others]
        choice, expected = self.choices[0], None
        if len(self.choices) > 1 and lines:
            choice, expected = trial(self.choices, lines, attempt)
        found: dict[str, Any] = {"readings": [], "seconds": 0.0}
        if lines:
            asks = {"alternatives": self.args.alternatives} if self.args.alternatives else {}
            found = self.call(
                choice, picture, {"lines": lines, "segment_ids": [one for one, _ in others], **asks}
            )
        hand = self.look(choice, picture, lines) if lines else None
        read = dict(zip((one for one, _ in others), found["readings"], strict=True))
        found["own"] = []
        for other in dict.fromkeys(own.values()):
            mine = [one for one in ids if own.get(one) == other]
            asked = {
                "lines": [shape for one, shape in zip(ids, shapes, strict=True) if own.get(one) == other]
            }
            # Never a provider's model: only a reader on this machine reads a line in place of the page's
            # reader.
            answer = PageJob.call(self, other, picture, asked)
            read |= zip(mine, answer["readings"], strict=True)
            found["own"].append((other, mine, float(answer.get("seconds", 0.0))))
        found["readings"] = [read[one] for one in ids]
        return PageAnswer(picture, started_at, found, choice, pass_id, tuple(ids), hand, expected, own)

    def _select(
        self, conn: Connection, pass_id: str, ids: list[str], shapes: list[dict[str, Any]]
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """Return the lines that are to be read. PageSkipped if there are none.

        A line whose reading a person confirmed keeps it: a newer one of a machine would count in its place.
        """
        wanted = set(ids)
        if self.args.lines == "unread":
            wanted = unread_lines(conn, pass_id)
        elif self.args.lines == "unchecked":
            wanted = undecided_lines(conn, pass_id)
        wanted -= confirmed_lines(self.ctx.engine, conn, ids)
        if not wanted:
            raise PageSkipped(
                "Every line of the page is read already."
                if self.args.lines == "unread"
                else "A person made or checked every line of the page."
            )
        chosen = [(one, shape) for one, shape in zip(ids, shapes, strict=True) if one in wanted]
        return [one for one, _ in chosen], [shape for _, shape in chosen]

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

    def write(self, document_id: str, answer: PageAnswer, kept: dict[str, Any]) -> None:
        others, readings = [], []
        for segment_id, reading in zip(answer.segment_ids, answer.found["readings"], strict=True):
            who = {"segment_id": segment_id, **_read_by(answer.own.get(segment_id))}
            others += [{**who, **one} for one in reading.get("alternatives", ())]
            if reading["text"]:
                told = {key: value for key, value in reading.items() if key not in ("alternatives", "places")}
                if "places" in reading:
                    told["places"] = on_picture(reading["places"], answer.picture)
                readings.append({**who, **told})
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
            checkpoint=self.keep(kept, answer.pass_id),
            done=kept["next"],
            total=len(self.args.page_ids),
        )


def _read_by(own: Choice | None) -> dict[str, str]:
    """Return who read a line, if it is not the reader of the page's other lines."""
    return {} if own is None else {"provider": own.reader.name, "model": own.model_name}
