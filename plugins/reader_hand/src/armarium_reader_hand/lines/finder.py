"""The line finder as a reader that finds lines: baselines as the writing runs, tilted or bent, with outlines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from armarium_worker import FoundLine, Page, Reader

CLOSER = 1.6
"""How much more closely a page of small letters is looked at."""


class LineFinder(Reader):
    """Hands, print and typescript; trained on lines in Latin script."""

    name = "lines"
    label = "Armarium's line finder"
    can = frozenset({"find_lines"})

    def load(self) -> None:
        """Load the network, with as many threads as the engine allows."""
        from armarium_reader_hand.lines.network import LineNetwork

        self.network: Any = LineNetwork(self.threads)

    def open_page(self, path: Path, max_pixels: int) -> Page:
        """Decode the page to grey."""
        import numpy as np

        page = super().open_page(path, max_pixels)
        page.image = np.asarray(page.image.convert("L"))
        return page

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Return the lines of the page, each with its baseline."""
        import numpy as np

        from armarium_reader_hand.lines.ink import are_written
        from armarium_reader_hand.lines.tracing import letters_are_small, on_page, trace

        maps = self.network.maps(page.image)
        lines = trace(maps)
        if letters_are_small(lines):
            closer = self.network.maps(page.image, CLOSER)
            if closer.scale[0] < maps.scale[0]:
                maps, lines = closer, trace(closer)
        placed = [on_page(line, maps, (page.width, page.height)) for line in lines]
        have_ink = are_written(page.image, [np.asarray(outline, float) for _, outline in placed])
        for line, (baseline, outline), is_written in zip(lines, placed, have_ink, strict=True):
            if not is_written:
                continue
            yield FoundLine(
                polygon=[(float(x), float(y)) for x, y in outline],
                baseline=[(float(x), float(y)) for x, y in baseline],
                confidence=round(line.sure, 4),
            )
