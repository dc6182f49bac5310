"""The one place where the gateway checks whether a model may see a page."""

from __future__ import annotations

from armarium.api import refuse_withheld
from armarium_reading.caller import Caller, Subject


def refuse_by_rights(caller: Caller, subject: Subject, *, local: bool) -> None:
    """Raise Forbidden if rights do not allow a model (*local*: on this machine) to see what *subject* names."""
    targets = [subject.document_id, *subject.also, *([subject.segment_id] if subject.segment_id else [])]
    refuse_withheld(caller.library, caller.principal, targets, "local-model" if local else "cloud-model")
