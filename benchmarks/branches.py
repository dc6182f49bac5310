"""Row 47: a branch of a large project made, its changes listed, merged and undone, against writing the same rows at once."""

from __future__ import annotations

import os
import statistics

from armarium.api import ActionContext, Engine, Library, raw_of
from benchmarks.harness import Result, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder
from benchmarks.transfer import fill

PAGES = int(os.environ.get("ARMARIUM_BENCH_BRANCH_PAGES", "100000"))
LINES = int(os.environ.get("ARMARIUM_BENCH_BRANCH_LINES", "10000"))
A_PAGE = 25


def measure(rounds: int) -> list[Result]:
    """Measure on one project, each round with a branch of its own; the merge is undone before the next."""
    from armarium_agents.branches import merge_actions

    # A merge of so many rows is a job; here the step is measured in which that does its work.
    merge_actions.LONG = 1 << 60
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        fill(engine, library, LINES // A_PAGE, A_PAGE)
        _add_pages(engine, library, PAGES - LINES // A_PAGE)
        found = [_Round(engine, library, number) for number in range(rounds)]
    return [
        _result(f"a branch of {PAGES:,} pages made", [item.made for item in found], [10.0] * rounds, "10 s", 1.0),
        _result(
            "its database beside the project's", [item.size for item in found], [item.whole for item in found],
            "the project's", 1.1, "MB",
        ),
        _result(
            f"{LINES:,} corrected lines: the first page of changes", [item.listed for item in found],
            [0.2] * rounds, "200 ms", 1.0,
        ),
        _result(
            "the same, after the project corrected these lines and took it back", [item.listed_beside for item in found],
            [0.2] * rounds, "200 ms", None,
        ),
        _result(
            f"{LINES:,} corrected lines merged", [item.merged for item in found], [item.written for item in found],
            "the same rows as one action", 2.0,
        ),
        _result(
            f"{LINES:,} corrected lines: the merge undone", [item.undone for item in found],
            [item.merged for item in found], "the merge", 1.0,
        ),
    ]  # fmt: skip


def _result(
    what: str, engine: list[float], peer: list[float], peer_name: str, limit: float | None, unit: str = "s"
) -> Result:
    ratios = [one / other for one, other in zip(engine, peer, strict=True)]
    return Result(
        47, what, unit, statistics.median(engine), statistics.median(peer), peer_name,
        statistics.median(ratios), limit=limit, rounds=ratios,
    )  # fmt: skip


def _add_pages(engine: Engine, library: Library, count: int) -> None:
    """Add pages without lines, 1,000 in a step."""
    box = str((engine.run(library, "document.create", {"name": "Rest"}, OWNER).result or {})["id"])
    for start in range(0, count, 1_000):
        nodes = [
            {"name": f"{number:06}", "doc_type": "page", "parent_id": box}
            for number in range(start, min(start + 1_000, count))
        ]

        def write(ctx: ActionContext, nodes: list[dict[str, str]] = nodes) -> None:
            for node in nodes:
                ctx.run("document.create", node)

        engine.run(
            library,
            "document.create",
            {"name": f"Box {start}", "parent_id": box},
            OWNER,
            in_transaction=write,
        )


class _Round:
    """A branch made, 10,000 readings written into it as one action, listed, merged, undone."""

    def __init__(self, engine: Engine, library: Library, number: int) -> None:
        self.engine = engine
        made: dict[str, str] = {}
        self.made = seconds(
            lambda: made.update(
                engine.run(library, "branches.create", {"name": f"B{number}"}, OWNER).result or {}
            )
        )
        branch = engine.libraries.open_only(made["library_path"])
        self.size, self.whole = (side.db.path.stat().st_size / 1e6 for side in (branch, library))
        with library.db.read() as conn:
            raw = raw_of(conn)
            self.lines = [
                row[0] for row in raw.execute("SELECT id FROM segment ORDER BY id LIMIT ?", (LINES,))
            ]
        self._correct(branch)
        self.listed = seconds(lambda: self._list(library, made["id"]))
        # As one action, in the project itself: what the merge is compared with. It is undone at once.
        outcome: list[str] = []
        self.written = seconds(lambda: outcome.append(self._correct(library)))
        engine.undo(library, outcome, OWNER)
        self.listed_beside = seconds(lambda: self._list(library, made["id"]))
        outcome = []
        self.merged = seconds(
            lambda: outcome.append(
                engine.run(library, "branches.merge", {"branch_id": made["id"]}, OWNER).audit_id
            )
        )
        self.undone = seconds(lambda: engine.undo(library, outcome, OWNER))
        engine.run(library, "branches.delete", {"branch_id": made["id"]}, OWNER)

    def _correct(self, library: Library) -> str:
        from armarium_source_model.api import NewReading, add_readings

        def write(ctx: ActionContext) -> None:
            text = "Your letter of the third has come to hand"
            add_readings(ctx, [NewReading(identity, text, producer_tool="hand") for identity in self.lines])

        return self.engine.run(
            library, "document.create", {"name": "Corrected"}, OWNER, in_transaction=write
        ).audit_id

    def _list(self, library: Library, branch_id: str) -> None:
        from armarium_agents.branches.queries import list_changes

        with library.db.read() as conn:
            list_changes(conn, self.engine, library, OWNER, branch_id, limit=50, offset=0)
