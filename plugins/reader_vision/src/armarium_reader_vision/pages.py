"""Reads whole pages with a chat model that takes pictures; imported by the engine, run inside the runtime."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from armarium_reader_vision.reader import VisionReader
from armarium_worker import FoundLine, LineReading, Page, ReadLine, Refused
from armarium_worker.instructions import bare_lines, read_page

MAX_PAGE_TOKENS = 2048
PLACE_UNKNOWN = "place-unknown"
"""The kind of a line whose words are known and whose place is not."""


class VisionPages(VisionReader):
    """Reads a page in one call. A chat model gives no positions: its lines share the page's height evenly."""

    name = "vision-pages"
    label = "Chat model with pictures"
    can = frozenset({"read_page"})

    def load(self) -> None:
        """As for lines; Refused for a model that reads single lines only."""
        super().load()
        if not self.chats:
            raise Refused(
                f"{Path(str(self.model)).parent.name} reads single lines and cannot be instructed to read a page. Use it with the "
                "reader vision, or choose a chat model that takes pictures."
            )

    def read_page(self, page: Page) -> Iterator[ReadLine]:
        """Return the lines that the model wrote; none for a page of one colour, which it is not shown."""
        if all(low == high for low, high in page.image.getextrema()):
            return
        inputs = self.inputs(page.image, read_page(self.language))
        text, sure = self.write(inputs, int(inputs["input_ids"].shape[-1]), MAX_PAGE_TOKENS)
        lines = bare_lines(text)
        share = page.height / max(1, len(lines))
        for number, line in enumerate(lines):
            place = FoundLine(rect=(0, number * share, page.width, share), kind_raw=PLACE_UNKNOWN)
            yield ReadLine(place, LineReading(line, sure))
