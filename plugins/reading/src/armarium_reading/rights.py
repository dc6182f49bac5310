"""The one place where the gateway asks whether a model may see a page."""

from __future__ import annotations

from armarium.api import refuse_withheld
from armarium_reading.caller import Caller, Subject


def refuse_by_rights(caller: Caller, subject: Subject, *, local: bool) -> None:
    """Forbidden where rights do not allow that a model (*local*: of this machine) sees what *subject* names."""
    targets = [subject.document_id, *subject.also, *([subject.segment_id] if subject.segment_id else [])]
    refuse_withheld(caller.library, caller.principal, targets, "local-model" if local else "cloud-model")
