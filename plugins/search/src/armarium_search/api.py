"""What other families may use of searching: how they add scopes and kinds of hits, and what an embedder is."""

from __future__ import annotations

from armarium_search.hookspecs import Hit, Kind, Scope
from armarium_search.vectors.embedders import GROUP, Embedder, TrainableEmbedder, check_embedder
from armarium_search.vectors.searching import embed_texts

__all__ = [
    "GROUP",
    "Embedder",
    "Hit",
    "Kind",
    "Scope",
    "TrainableEmbedder",
    "check_embedder",
    "embed_texts",
]
