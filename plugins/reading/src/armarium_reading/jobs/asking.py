"""Lines read by a provider's model: one call per line through the gateway, several lines of a page at a time."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from armarium.api import ServiceError, open_image
from armarium_documents.api import PageImage, still_image
from armarium_reading.caller import Caller, Subject
from armarium_reading.jobs.lines import ReadLines
from armarium_reading.jobs.pages import PageAnswer
from armarium_reading.line_pictures import cut_line
from armarium_reading.providers.asking import ModelRequest, ask
from armarium_reading.providers.in_jobs import end_for_provider
from armarium_reading.providers.wire import Picture
from armarium_reading.queries.reading import answers_by_segment
from armarium_reading.readers import Choice
from armarium_worker.instructions import bare_line, read_line

AT_ONCE = 4
"""How many lines of one job are in flight at a time."""


class AskLines(ReadLines):
    """Readings of lines, each of them a provider model's answer to the picture of the line."""

    def ask(self, document_id: str) -> PageAnswer:
        self.document_id = document_id
        return super().ask(document_id)

    def call(self, choice: Choice, picture: PageImage, more: dict[str, Any]) -> dict[str, Any]:
        began, shapes = time.monotonic(), more["lines"]
        limit = self.ctx.engine.settings.max_image_pixels
        with still_image(self.ctx.library, picture) as path:
            page = open_image(path, max_pixels=limit).convert("RGB")
        caller = Caller.of_job(self.ctx)
        with self.ctx.library.db.read() as conn:
            # Answers from an earlier run that was killed or put off in the middle of this page.
            answers = answers_by_segment(
                conn, job_id=self.ctx.job_id, document_id=self.document_id, model=choice.model_name
            )
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="armarium-ask") as pool:
            futures = {
                segment_id: pool.submit(self._read, caller, segment_id, cut_line(page, shape["rect"]))
                for segment_id, shape in zip(more["segment_ids"], shapes, strict=True)
                if segment_id not in answers
            }
            try:
                for number, (segment_id, future) in enumerate(futures.items()):
                    self.ctx.item = {"done": number, "total": len(futures), "unit": "lines"}
                    answers[segment_id] = future.result()
                readings = [{"text": bare_line(answers[segment_id])} for segment_id in more["segment_ids"]]
            except BaseException as error:
                for future in futures.values():
                    future.cancel()
                if isinstance(error, ServiceError):
                    end_for_provider(self.ctx, error)
                raise
        return {
            "readings": readings,
            "width": picture.width,
            "height": picture.height,
            "seconds": time.monotonic() - began,
        }

    def record(self, document_id: str, answer: PageAnswer) -> int:
        """Add nothing: the gateway has already recorded the provider's calls."""
        self.note_own(document_id, answer)
        return len(answer.found["readings"])

    def _read(self, caller: Caller, segment_id: str, line: Picture) -> str:
        request = ModelRequest(
            provider=str(self.args.provider),
            model=self.args.model,
            prompt=read_line(self.args.language),
            subject=Subject(self.document_id, segment_id=segment_id),
            use_case=self.ctx.kind.name,
            pictures=(line,),
            pages_may_leave=self.args.pages_may_leave,
        )
        return ask(caller, request).answer
