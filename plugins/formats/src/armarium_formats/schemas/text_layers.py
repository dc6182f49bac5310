"""Models of the text that PDFs have themselves."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PrivateAttr

from armarium.api import Message, Params


class ReadTextLayer(Params):
    """A PDF of the project, whose pages are pictured."""

    document_id: Annotated[str, Field(min_length=1, max_length=64)]
    _was_read: tuple[Any, Any] | None = PrivateAttr(default=None)

    def hand_over(self, file: Any, pages: Any) -> None:
        """Pass on what was read of the file before the step: all of its pages, or some."""
        self._was_read = (file, pages)

    @property
    def was_read(self) -> Any:
        """Return what was read before the step, None if nothing was."""
        return self._was_read


class TextLayerPass(Message):
    pass_id: str
    document_id: str


class TextLayerRead(Message):
    """The passes that were made, and whether the file has a text layer at all."""

    document_id: str
    passes: list[TextLayerPass]
    text_layer: bool
