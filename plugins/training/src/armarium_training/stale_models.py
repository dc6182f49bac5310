"""What in training depends on text: models of the project that were trained on lines whose text has changed since."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from armarium.api import ActionContext, Library
from armarium_source_model.api import StaleRow, reading_rule, segment_fingerprints
from armarium_training.cards import cards_in
from armarium_training.line_sets import FINGERPRINT

WHY = "The model was trained on this line with another text; train it again to use the present one."


class RestingModels:
    """The lines that the project's models were trained on, as recorded on their cards. A row's id is that of
    its model.
    """

    kinds = ("training-line",)

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Return those on these pages whose counting text is not the one used for training. Damaged entries
        of a card are skipped.
        """
        asked = set(document_ids)
        taught = [
            (place.model_id, page, texts)
            for place in cards_in(library.models)
            for page, texts in _list_taught(place.card.get("training_set"))
            if page in asked
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

    def confirm(self, ctx: ActionContext, kind: str, identity: str) -> bool:
        """Refuse: a model can only be trained again."""
        return False


def _list_taught(training_set: object) -> list[tuple[str, dict[str, str]]]:
    documents = training_set.get("documents") if isinstance(training_set, dict) else None
    return [
        (one["document_id"], one["texts"])
        for one in (documents if isinstance(documents, list) else ())
        if isinstance(one, dict)
        and isinstance(one.get("document_id"), str)
        and isinstance(one.get("texts"), dict)
    ]
