"""The direction and script of a page and its parts: as stated, else derived from shapes and letters; pure.

What nobody states is derived, in this order, from the baselines of the page's lines (from their shapes if they
have none), from the first letter with a direction, and from the script; the default is left to right. The nearest text is used first: that of the
segment, of those that contain it, of the page. A language is never derived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from armarium_source_model.facts import Ladder, PageFacts, Statement
from armarium_source_model.order import (
    UNKNOWN_LEAN,
    VERTICAL,
    Lean,
    PageOrder,
    Shape,
    Way,
    geometric,
    ladder_of_shapes,
    line_shape_direction,
    order_page,
)
from armarium_source_model.schemas.orders import OrderBasis
from armarium_source_model.scripts import MAY_RUN_VERTICALLY, direction_of_script, script_of
from armarium_source_model.text import first_strong_direction

LETTERS = 5000
"""Characters of a text that tell its script."""
ORDERS = 4
"""Orders of the same shapes that are kept."""

BY_BASELINES = "most baselines run downward"
BY_SHAPES = "most lines are twice as tall as wide"
BY_TEXT = "the first letter that has a direction"
BY_LETTERS = "read off the letters"
BY_NOTHING = "the default"


class Answer(NamedTuple):
    """A script or a direction, and why: the statement, else what it was derived from."""

    value: str | None
    basis: str
    statement: Statement | None = None


_TOLD_BY_TEXT = {direction: Answer(direction, BY_TEXT) for direction in ("ltr", "rtl")}

Orders = dict[tuple[tuple[str | None, Way], ...], PageOrder]
"""Orders of the same shapes, by the ways that the parts of each segment run in."""


class PageWriting:
    """The live segments of one pass with what determines how each of them is written."""

    def __init__(
        self,
        shapes: Sequence[Shape],
        page: PageFacts,
        texts: Mapping[str, str],
        *,
        lean: Lean = UNKNOWN_LEAN,
        ladder: Ladder | None = None,
        orders: Orders | None = None,
    ) -> None:
        """*texts*: the counting transcriptions. ladder, orders: computed before for the same shapes."""
        self.shapes, self.page, self.lean = shapes, page, lean
        self._orders: Orders = {} if orders is None else orders
        self.by_id = {shape.id: shape for shape in shapes}
        self.ladder = ladder_of_shapes(shapes, page) if ladder is None else ladder
        self._texts = texts
        by_shape = line_shape_direction(shapes, page.aspect) is not None
        self._are_tall = by_shape if lean.is_vertical is None else lean.is_vertical
        # True of nearly every page: nobody states a direction, and its lines are wide.
        self._goes_by_text = "direction" in self.ladder.silent and not self._are_tall
        self._letters: dict[str | None, str | None] = {}
        self._first: PageOrder | None = None
        self._order: PageOrder | None = None
        self._strong: dict[str | None, str] | None = None
        self._holders_of_text: set[str] | None = None
        self._inside: dict[str | None, list[str]] | None = None

    def with_segment(self, shape: Shape, text: str) -> PageWriting:
        """Return the same page with one more segment, about which alone is asked."""
        page = PageWriting([*self.shapes, shape], self.page, {**self._texts, shape.id: text}, lean=self.lean)
        page._are_tall = self._are_tall
        page._goes_by_text = self._goes_by_text and "direction" in page.ladder.silent
        return page

    # ------------------------------------------------------------------------------------------ answers

    def script(self, segment_id: str | None = None) -> Answer | None:
        """Return the script of a segment, else of the page; None if it is undetermined."""
        statement = self.ladder.find_stated("script", segment_id)
        if statement is not None:
            return Answer(statement.value, "", statement)
        for holder_id in self._holders_outwards(segment_id):
            script = self._script_of_letters(holder_id)
            if script is not None:
                return Answer(script, BY_LETTERS)
        return None

    def direction(self, segment_id: str | None = None) -> Answer:
        """Return the direction of a segment, else of the page."""
        if self._goes_by_text:
            by_text = _TOLD_BY_TEXT.get(self._strongly_directed().get(segment_id, ""))
            if by_text is not None:
                return by_text
        statement = self.ladder.find_stated("direction", segment_id)
        if statement is not None:
            return Answer(statement.value, "", statement)
        return self._derive_direction(segment_id)

    def _derive_direction(self, segment_id: str | None) -> Answer:
        if self._are_vertical(segment_id):
            return Answer("ttb", BY_SHAPES if self.lean.is_vertical is None else BY_BASELINES)
        strong = self._strongly_directed()
        statement = self.ladder.find_stated("script", segment_id)
        for holder_id in self._holders_outwards(segment_id):
            if holder_id in strong:
                return Answer(strong[holder_id], BY_TEXT)
            if statement is not None and statement.value is not None and statement.holder.id == holder_id:
                break
        if statement is not None and statement.value is not None:
            return Answer(direction_of_script(statement.value), f"the script {statement.value}")
        return Answer("ltr", BY_NOTHING)

    def sequence(self) -> list[str]:
        """Return the ids of the segments in reading order."""
        return self.order().ids

    def order(self) -> PageOrder:
        """Return the reading order, and whether the positions leave doubt about it."""
        if self._order is None:
            first = self._first_order()
            self._order = first if self._is_settled() else self._order_segments(self.way)
        return self._order

    def order_basis(self) -> OrderBasis:
        """Return by what the segments are in order."""
        if self.page.columns is not None:
            return "columns-stated"
        return "positions-in-doubt" if self.order().in_doubt else "positions"

    def way(self, segment_id: str | None) -> Way:
        """Return the direction of the parts of a segment, or of the segments without a parent."""
        stated_way = self._stated_way(segment_id)
        if stated_way.direction is not None:
            return stated_way
        derived = self._derive_direction(segment_id)
        return stated_way._replace(direction=None if derived.basis == BY_NOTHING else derived.value)

    # ------------------------------------------------------------------------- the order without the text

    def _first_order(self) -> PageOrder:
        """Return the order by statements and shapes, in which texts are examined for their direction."""
        if self._first is None:
            self._first = self._order_segments(self._stated_way)
        return self._first

    def _order_segments(self, within: Callable[[str | None], Way]) -> PageOrder:
        holders = dict.fromkeys(
            (None, *(shape.parent_id for shape in self.shapes if shape.parent_id in self.by_id))
        )
        ways = {holder: within(holder) for holder in holders}
        key = tuple(ways.items())
        if key not in self._orders:
            if len(self._orders) >= ORDERS:
                self._orders.clear()
            self._orders[key] = order_page(
                self.shapes,
                aspect=self.page.aspect,
                lean=self.lean,
                columns=self.page.columns,
                within=ways.__getitem__,
            )
        return self._orders[key]

    def _stated_way(self, segment_id: str | None) -> Way:
        direction = geometric(self.ladder.value("direction", segment_id))
        if direction is None and self._are_vertical(segment_id):
            direction = "ttb"
        script = self.ladder.value("script", segment_id)
        if script is None and direction in VERTICAL:
            answer = self.script(segment_id)
            script = None if answer is None else answer.value
        line_order = next(
            (
                shape.line_order
                for holder_id in self._holders_outwards(segment_id)
                if holder_id is not None and (shape := self.by_id[holder_id]).line_order is not None
            ),
            self.page.line_order,
        )
        return Way(direction, script, line_order)

    def _is_settled(self) -> bool:
        """Return whether the first order stands: no text makes a part run in another direction."""
        strong = self._strongly_directed()
        scripts = {shape.script for shape in self.shapes}
        if (statement := self.page.first("script")) is not None:
            scripts.add(statement.value)
        tells = "rtl" in strong.values() or any(
            direction_of_script(script) != "ltr" for script in scripts if script
        )
        if strong and not tells:
            # Siblings of which nothing is known follow what they state themselves, and their own shapes.
            tells = any(
                shape.direction not in (None, "ltr")
                or (shape.kind == "line" and shape.h > 2 * shape.w * self.page.aspect)
                for shape in self.shapes
            )
        return not tells

    # ------------------------------------------------------------------------------- what tells the rest

    def _are_vertical(self, segment_id: str | None) -> bool:
        """Return whether the page's lines run downward, and the script of the segment may be vertical."""
        if not self._are_tall:
            return False
        script = self.script(segment_id)
        return script is None or script.value is None or script.value in MAY_RUN_VERTICALLY

    def _holders_outwards(self, segment_id: str | None) -> Iterator[str | None]:
        """Yield the segment, those that contain it, and None for the page."""
        if segment_id is not None:
            for holder in self.ladder.enclosing(segment_id):
                yield holder.id
        yield None

    def _strongly_directed(self) -> dict[str | None, str]:
        """Return, by segment and by None for the page, the direction of the first letter that has one."""
        if self._strong is None:
            self._strong = {}
            for identity in self._first_order().ids:
                text = self._texts.get(identity)
                direction = first_strong_direction(text) if text else None
                if direction is not None:
                    self._pass_on(identity, direction)
        return self._strong

    def _pass_on(self, identity: str, direction: str) -> None:
        """Assign the direction of a segment's text to it and to everything whose text includes that text."""
        assert self._strong is not None
        self._strong.setdefault(identity, direction)
        shape = self.by_id[identity]
        if not self._stands_in_text(shape):
            return
        if shape.parent_id is None and not shape.is_furniture:
            self._strong.setdefault(None, direction)
            return
        for holder_id in self._holders_outwards(identity):
            self._strong.setdefault(holder_id, direction)
            if holder_id is not None and self.by_id[holder_id].is_furniture:
                return

    def _stands_in_text(self, shape: Shape) -> bool:
        """Return whether a segment's own text is part of the surrounding text: a word's if its line has none,
        a region's if nothing in it has one.
        """
        if shape.kind == "region":
            return shape.id not in self._read_inside()
        line = self.by_id.get(shape.parent_id or "") if shape.kind == "word" else None
        return line is None or line.kind != "line" or not self._texts.get(line.id)

    def _read_inside(self) -> set[str]:
        if self._holders_of_text is None:
            self._holders_of_text = set()
            for identity, text in self._texts.items():
                if text and identity in self.by_id:
                    self._holders_of_text.update(
                        holder.id for holder in self.ladder.enclosing(identity) if holder.id != identity
                    )
        return self._holders_of_text

    def _script_of_letters(self, segment_id: str | None) -> str | None:
        if segment_id not in self._letters:
            own = self._texts.get(segment_id) if segment_id is not None else None
            self._letters[segment_id] = script_of(own or self._text_inside(segment_id))
        return self._letters[segment_id]

    def _text_inside(self, segment_id: str | None) -> str:
        """Return the text in a segment, or on the page without furniture, as far as letters are counted."""
        if self._inside is None:
            self._inside = {}
            for identity in sorted(self._texts):
                shape = self.by_id.get(identity)
                if shape is None or not self._stands_in_text(shape):
                    continue
                around = [holder.id for holder in self.ladder.enclosing(identity)]
                for holder_id in around:
                    self._inside.setdefault(holder_id, []).append(identity)
                if not any(self.by_id[holder_id].is_furniture for holder_id in around):
                    self._inside.setdefault(None, []).append(identity)
        parts: list[str] = []
        length = 0
        for identity in self._inside.get(segment_id, ()):
            parts.append(self._texts[identity])
            length += len(parts[-1])
            if length > LETTERS:
                break
        return "\n".join(parts)
