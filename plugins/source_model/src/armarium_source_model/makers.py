"""Who stands behind the reading of a line, as every answer, file and site says it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from sqlalchemy import Connection, select

from armarium.api import Engine, is_among
from armarium_documents.api import representations
from armarium_source_model.hookspecs import armarium_source_model_confirmed
from armarium_source_model.models import passes, segments
from armarium_source_model.queries.readings import CountingText, counting_of_segments
from armarium_source_model.schemas.readings import MadeBy

_ORDER: tuple[MadeBy, ...] = get_args(MadeBy)


class LineMaker(NamedTuple):
    """How a reading came about. *name*: the model or reader, the agent, the imported file; persons are not named.

    `checked` is a reading of any other origin that a person chose, confirmed, or declared to be ground truth.
    """

    by: MadeBy
    name: str | None = None

    @property
    def words(self) -> str:
        """Return it as a phrase that follows a number of lines."""
        match self.by:
            case "person":
                return "made by a person"
            case "checked":
                return f"checked by a person (from {self.name})" if self.name else "checked by a person"
            case "machine":
                return f"read by {self.name or 'a machine'} and checked by nobody"
            case "agent":
                return f"written by the agent {self.name}" if self.name else "written by an agent"
            case "import":
                return f"from the file {self.name}" if self.name else "from an imported file"
            case _:
                return "of unknown origin"

    @property
    def by_person(self) -> bool:
        """Whether a person made or checked it."""
        return self.by in ("person", "checked")


def line_makers(engine: Engine, conn: Connection, counting: dict[str, CountingText]) -> dict[str, LineMaker]:
    """Return the maker of the counting reading of each segment in *counting*."""
    reading = representations.c
    ids = [reading.representation_id for reading in counting.values()]
    rows = conn.execute(
        select(
            reading.id,
            reading.provenance_kind,
            reading.created_by,
            reading.producer_tool,
            reading.producer_model,
            passes.c.provider,
            passes.c.model,
            passes.c.import_file,
            passes.c.ground_truth,
        )
        .join(segments, segments.c.id == reading.segment_id)
        .join(passes, passes.c.id == segments.c.pass_id)
        .where(is_among(reading.id, ids))
    )
    by_reading = {row.id: row for row in rows}
    confirmed = confirmed_readings(engine, conn, ids)
    return {
        segment_id: _maker(
            by_reading[reading.representation_id], reading, reading.representation_id in confirmed
        )
        for segment_id, reading in counting.items()
        if reading.representation_id in by_reading
    }


def confirmed_readings(engine: Engine, conn: Connection, reading_ids: Sequence[str]) -> set[str]:
    """Return which of the readings a person confirmed."""
    return set[str]().union(*engine.points.ask(armarium_source_model_confirmed, conn, reading_ids))


def confirmed_lines(engine: Engine, conn: Connection, line_ids: Iterable[str]) -> set[str]:
    """Return which of the lines have a counting transcription that a person confirmed."""
    line_of = {
        reading.representation_id: line for line, reading in counting_of_segments(conn, line_ids).items()
    }
    return {
        line_of[confirmed_reading] for confirmed_reading in confirmed_readings(engine, conn, list(line_of))
    }


def origin_of(
    provenance_kind: str, *, created_by: str | None = None, model: str | None = None, file: str | None = None
) -> LineMaker:
    """Return who made a row, before anybody checked it."""
    match provenance_kind:
        case "human":
            return LineMaker("person")
        case "external_import":
            return LineMaker("import", file)
        case "agent":
            return LineMaker("agent", created_by)
        case "workflow":
            return LineMaker("machine", model)
    return LineMaker("unknown")


def _maker(row: Any, counting: CountingText, is_confirmed: bool) -> LineMaker:
    model = row.producer_model or row.producer_tool or row.model or row.provider
    origin = origin_of(row.provenance_kind, created_by=row.created_by, model=model, file=row.import_file)
    if origin.by_person:
        return origin
    if is_confirmed or counting.basis == "chosen" or row.ground_truth:
        return LineMaker("checked", origin.name)
    return origin


def sum_makers(makers: Iterable[LineMaker]) -> list[dict[str, Any]]:
    """Return the lines of each maker as `MadeLines`: what persons made first, then the most lines."""
    counts = sorted(
        Counter(makers).items(), key=lambda pair: (_ORDER.index(pair[0].by), -pair[1], pair[0].name or "")
    )
    return [
        {"by": maker.by, "name": maker.name, "lines": lines, "words": maker.words} for maker, lines in counts
    ]


def join_made(sums: Iterable[Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return several answers of `sum_makers` as one."""
    counts: Counter[LineMaker] = Counter()
    for rows in sums:
        for row in rows:
            counts[LineMaker(row["by"], row["name"])] += row["lines"]
    return sum_makers(counts.elements())


def words_of_sum(makers: Iterable[LineMaker]) -> str:
    """Return the sum as a phrase, `3 lines: 1 made by a person, 2 read by hand-base …`; empty without lines."""
    rows = sum_makers(makers)
    total = sum(row["lines"] for row in rows)
    counted = ", ".join(f"{row['lines']} {row['words']}" for row in rows)
    return f"{total} {'line' if total == 1 else 'lines'}: {counted}" if total else ""


def words_by_line(makers: Sequence[LineMaker | None]) -> str:
    """Return which lines are whose, `Lines 1 to 3 made by a person; line 4 read by …`, counting from 1."""
    places: dict[LineMaker, list[int]] = {}
    for number, maker in enumerate(makers, 1):
        if maker is not None:
            places.setdefault(maker, []).append(number)
    if len(places) == 1 and len(makers) == len(next(iter(places.values()))):
        (maker,) = places
        return f"All {len(makers)} lines {maker.words}" if len(makers) > 1 else f"Line 1 {maker.words}"
    phrases = [
        f"{'line' if len(places[maker]) == 1 else 'lines'} {_ranges(places[maker])} {maker.words}"
        for maker in sorted(places, key=lambda maker: _ORDER.index(maker.by))
    ]
    return f"L{'; '.join(phrases)[1:]}" if phrases else ""


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as `1 to 3, 7 and 9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    phrases = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return f"{', '.join(phrases[:-1])} and {phrases[-1]}" if len(phrases) > 1 else phrases[0]
