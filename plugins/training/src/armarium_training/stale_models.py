"""What models of the project were trained on: the lines whose text has changed since, and those that a fair measure leaves out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection

from armarium.api import Library
from armarium_source_model.api import (
    RestsOnText,
    StaleRow,
    counting_of_segments,
    reading_rule,
    text_fingerprint,
)
from armarium_training.cards import CARD, cards_in
from armarium_training.line_sets import FINGERPRINT
from armarium_training.relatives import Relatives
from armarium_training.teachers import made_by, newest_of

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
        """Return those on these pages for which a training would take another text now than it took. Damaged entries of a
        card are skipped.
        """
        page_ids = set(document_ids)
        rows = []
        for place in cards_in(library.models):
            taught = [
                (page, line, before)
                for page, texts in _list_taught(place.card.get("training_set"))
                if page in page_ids
                for line, before in texts.items()
            ]
            texts_now = _texts_now(conn, place.card.get("teacher"), {line for _, line, _ in taught})
            rows += [
                StaleRow("training-line", place.model_id, page, line, None, "redo", WHY)
                for page, line, before in taught
                if before not in texts_now.get(line, ())
            ]
        return rows


def _texts_now(
    conn: Connection, teacher: str | None, segment_ids: Collection[str]
) -> Mapping[str, Collection[str]]:
    """Return, of each line, the fingerprints of what may be taught: what counts, and where no person read it also what
    the teacher or a file says, which another machine's reading does not replace.
    """
    if not segment_ids:
        return {}
    counting = counting_of_segments(conn, segment_ids, rule=reading_rule(conn))
    own = newest_of(conn, counting, made_by(teacher, from_files=False))
    imported = newest_of(conn, counting, made_by(None, from_files=True))
    return {
        segment_id: {
            text_fingerprint(of[segment_id].text)[:FINGERPRINT]
            for of in (counting, own, imported)
            if segment_id in of
        }
        for segment_id in counting
    }


def _list_taught(training_set: object) -> list[tuple[str, dict[str, str]]]:
    documents = training_set.get("documents") if isinstance(training_set, dict) else None
    return [
        (document["document_id"], document["texts"])
        for document in (documents if isinstance(documents, list) else ())
        if isinstance(document, dict)
        and isinstance(document.get("document_id"), str)
        and isinstance(document.get("texts"), dict)
    ]
