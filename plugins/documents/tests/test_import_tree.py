"""The tree of an import's stages, during a real import."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

from documents_fixtures import Run, picture

from armarium.api import Engine, Library


def test_the_tree_of_a_real_import_never_goes_backwards(
    engine: Engine, library: Library, do: Run, source: Path
) -> None:
    """Files that were read stay counted while thumbnails are drawn and afterwards: the two stages have no common parent
    job.
    """
    from armarium.jobs.import_tree import derivatives_of

    for number in range(40):
        (source / f"{number}.jpg").write_bytes(picture(60, 40, grey=number * 6))
    seen: list[dict[str, tuple[int, int]]] = []

    def look() -> dict[str, tuple[int, int]]:
        tree = derivatives_of(engine.jobs, [library])
        seen.append({stage["id"]: (stage["done"], stage["total"]) for stage in tree["stages"]})
        return seen[-1]

    do("document.import", {"folder": str(source)})
    look()
    while not engine.jobs.run_until_idle(library, 0.02):
        look()
    look()
    for before, after in pairwise(seen):
        for stage, (done, total) in before.items():
            assert after[stage][0] >= done, (stage, seen)
            assert after[stage][1] >= total, (stage, seen)
    assert (seen[-1]["read-files"], seen[-1]["thumbnails"]) == ((40, 40), (40, 40))
    # A further picture is another import, of one file.
    extra = source / "more"
    extra.mkdir()
    (extra / "40.jpg").write_bytes(picture(60, 40, grey=255))
    time.sleep(0.01)
    do("document.import", {"folder": str(extra)})
    while not engine.jobs.run_until_idle(library, 0.02):
        pass
    look()
    assert (seen[-1]["read-files"], seen[-1]["thumbnails"]) == ((1, 1), (1, 1))
