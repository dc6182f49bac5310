"""What other families may use of searching: how they add scopes and kinds of hits, what an embedder is, and search within pages."""

from armarium_search.hookspecs import Hit as Hit
from armarium_search.hookspecs import Kind as Kind
from armarium_search.hookspecs import Scope as Scope
from armarium_search.queries.lines_found import LineFound as LineFound
from armarium_search.queries.lines_found import lines_found as lines_found
from armarium_search.queries.lines_found import terms_found as terms_found
from armarium_search.vectors.embedders import GROUP as GROUP
from armarium_search.vectors.embedders import Embedder as Embedder
from armarium_search.vectors.embedders import TrainableEmbedder as TrainableEmbedder
from armarium_search.vectors.embedders import check_embedder as check_embedder
from armarium_search.vectors.searching import embed_texts as embed_texts
