"""What paleography answers at the extension points of other families, whose docstrings say when each is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armarium.api import hookimpl
from armarium_documents.api import Carrier
from armarium_paleography.actions import following, importing
from armarium_paleography.queries import exporting, hands, signs

if_asked = hookimpl(optionalhook=True)
"""For the points of families without which paleography can be loaded."""

_NAMED = ("hand", "sign", "letterform_allograph")

armarium_source_model_declared_signs = hookimpl(signs.declared_signs)
armarium_source_model_move_spans = hookimpl(following.move_facts)
armarium_source_model_copy_reading = hookimpl(following.copy_facts)
armarium_source_model_merged = hookimpl(following.follow_merge)
armarium_source_model_split = hookimpl(following.follow_split)
armarium_formats_take_marks = if_asked(importing.take_marks)
armarium_checking_selected = if_asked(hands.select_by_hand)
armarium_formats_mark_page = if_asked(exporting.mark_page)


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    # A hand, sign or allograph is copied along with the rows that name it, and matched by name in the other project.
    return (Carrier(companions=_NAMED, named=_NAMED, arrived=following.settle_arrivals),)


@if_asked
def armarium_exports_records() -> Mapping[str, object]:
    return {table.name: table for table in exporting.EXPORTED}
