"""What other families may use of searching: how they add scopes and kinds of hits, and what an embedder is."""

from armarium_search.hookspecs import Hit as Hit
from armarium_search.hookspecs import Kind as Kind
from armarium_search.hookspecs import Scope as Scope
from armarium_search.vectors.embedders import GROUP as GROUP
from armarium_search.vectors.embedders import Embedder as Embedder
from armarium_search.vectors.embedders import TrainableEmbedder as TrainableEmbedder
from armarium_search.vectors.embedders import check_embedder as check_embedder
from armarium_search.vectors.searching import embed_texts as embed_texts
