"""What models of the project were trained on: the lines whose text has changed since, and those that a fair measure leaves out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection

from armarium.api import Library
from armarium_source_model.api import RestsOnText, StaleRow, reading_rule, segment_fingerprints
from armarium_training.cards import CARD, cards_in
from armarium_training.line_sets import FINGERPRINT
from armarium_training.relatives import Relatives

WHY = "The model was trained on this line with another text; train it again to use the present one."


def taught_by(library: Library, conn: Connection, models: Collection[str]) -> Mapping[str, Collection[str]]:
    """Return what taught each of *models* that was trained here: the lines on its card, and the pages that show the same
    writing as one of theirs (a copy, what was cut from it).
    """
    by_model: dict[str, set[str]] = {}
    relatives = Relatives(conn)
    for place in cards_in(library.models):
        names = {place.model_id, place.path.name.removesuffix(CARD)} & set(models)
        if not names:
            continue
        taught = _list_taught(place.card.get("training_set"))
        pages = {page for page, _ in taught}
        lines = {line for _, texts in taught for line in texts}
        for name in names:
            by_model[name] = lines | (relatives.of(pages) - pages)
    return by_model


class RestingModels(RestsOnText):
    """The lines that the project's models were trained on, as recorded on their cards. A row's id is that of
    its model.
    """

    kinds = ("training-line",)

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Return those on these pages whose counting text is not the one used for training. Damaged entries
        of a card are skipped.
        """
        page_ids = set(document_ids)
        taught = [
            (place.model_id, page, texts)
            for place in cards_in(library.models)
            for page, texts in _list_taught(place.card.get("training_set"))
            if page in page_ids
        ]
        now = segment_fingerprints(
            conn, {line for _, _, texts in taught for line in texts}, reading_rule(conn)
        )
        return [
            StaleRow("training-line", model, page, line, None, "redo", WHY)
            for model, page, texts in taught
            for line, before in texts.items()
            if now.get(line, "")[:FINGERPRINT] != before
        ]


def _list_taught(training_set: object) -> list[tuple[str, dict[str, str]]]:
    documents = training_set.get("documents") if isinstance(training_set, dict) else None
    return [
        (document["document_id"], document["texts"])
        for document in (documents if isinstance(documents, list) else ())
        if isinstance(document, dict)
        and isinstance(document.get("document_id"), str)
        and isinstance(document.get("texts"), dict)
    ]
