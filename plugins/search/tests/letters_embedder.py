"""An embedder with a model, for tests, run in a real worker process: how often each letter stands in a passage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from armarium_worker import PassageEmbedder, Refused

SIGNS = "abcdefghijklmnopqrstuvwxyz"


class LettersEmbedder(PassageEmbedder):
    """Counts letters, and keeps the passages it was given in the file that stands for its model, one a line."""

    name = "letters"
    label = "Letters"
    model_kind = "letters"
    model_suffixes = (".letters",)
    reading_needs_model = True

    def embed(self, passages: Sequence[str]) -> Iterable[Sequence[float]]:
        """A number for each letter; "unreadable" is refused, and of "lost" there is no vector."""
        assert self.model is not None
        with open(self.model, "a", encoding="utf-8") as file:
            file.writelines(f"{passage}\n" for passage in passages)
        if any("unreadable" in passage for passage in passages):
            raise Refused("Letters does not take this passage.")
        return [
            [float(passage.lower().count(sign)) for sign in SIGNS]
            for passage in passages
            if "lost" not in passage
        ]
