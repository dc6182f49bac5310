"""What both sides of a branch made of the same thing or chose among it, found in plain Python from three versions of all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium.store.tables import rules_of

if TYPE_CHECKING:
    from armarium_testing.merges import ThreeVersions

Place = tuple[str, tuple[Any, ...]]
Row = dict[str, Any]
Rows = dict[Place, Row]
Thing = tuple[Any, ...]


class Rivalry:
    """The rows of the table *made*, and of the table of *choices* among them, in three *versions*."""

    def __init__(self, versions: ThreeVersions, made: str, choices: str | None) -> None:
        self.versions, self.made, self.choices = versions, made, choices
        self.rules = rules_of(versions.schema.by_name[choices]).choice if choices else None
        self.concerned = {place for place in versions.changed if place[0] in (made, choices)}
        self.said: dict[Thing, list[Place]] = {}
        """What ours newly says of each thing, and was not decided on."""

    def judge(self) -> None:
        """Note in the versions what is the same or a conflict."""
        versions = self.versions
        new = [
            place
            for place in sorted(self.concerned)
            if place not in versions.base and place not in versions.ours
            and place in versions.theirs and self._stands(place, versions.theirs[place])
        ]  # fmt: skip
        if not new:
            return
        self._find_said()
        things: set[Thing] = set()
        for place in new:
            of = self._thing(place, versions.theirs[place])
            verdict = self._compare(place, self.said.get(of, []))
            if verdict == "same":
                versions.same.add(place)
            elif verdict == "rival":
                versions.conflicts[place] = verdict
                versions.rows_beside[place] = self.said[of]
                things.add(of)
        for place in self.concerned:
            # That a former choice ended is part of what is decided.
            ended = place[0] == self.choices and place in versions.base and versions.is_open(place)
            if ended and self._thing(place, versions.base[place]) in things:
                versions.conflicts[place] = "rival"

    def _find_said(self) -> None:
        """What stood in ours when one of the same was taken was decided on then."""
        base, ours, came = self.versions.base, self.versions.ours, self.versions.came
        decided: dict[Thing, int] = {}
        here = {
            place: self._thing(place, row)
            for place, row in ours.items()
            if place[0] in (self.made, self.choices)
        }
        for place, of in here.items():
            if place in base and place in came:
                decided[of] = max(decided.get(of, 0), came[place])
        for place, of in here.items():
            new = place not in base and place not in self.concerned and self._stands(place, ours[place])
            if new and None not in of and came.get(place, 0) > decided.get(of, -1):
                self.said.setdefault(of, []).append(place)

    def _compare(self, place: Place, said: list[Place]) -> str | None:
        theirs, ours = self.versions.theirs, self.versions.ours
        chosen = [other for other in said if other[0] == self.choices]
        differing = [
            other for other in chosen or said if self._text(other, ours) != self._text(place, theirs)
        ]
        if place[0] == self.choices:
            return "rival" if differing else "same" if chosen else None
        if chosen and differing:
            return "rival"
        made_here = [other for other in said if other[0] == self.made]
        if any(self.versions.is_alike(theirs[place], ours[other], self.made) for other in made_here):
            return "same"
        return "rival" if made_here and not chosen else None

    def _thing(self, place: Place, row: Row) -> Thing:
        return tuple(row[name] for name in rules_of(self.versions.schema.by_name[place[0]]).rivals)

    def _stands(self, place: Place, row: Row) -> bool:
        ended = rules_of(self.versions.schema.by_name[place[0]]).ended
        return ended is None or row[ended] is None

    def _text(self, place: Place, side: Rows) -> Any:
        """What a row leads to: the text that was made, or of the row that was chosen."""
        if self.rules is None:
            return None
        at = place if place[0] == self.made else (self.made, (side[place][self.rules.of],))
        return side.get(at, {}).get(self.rules.text)
