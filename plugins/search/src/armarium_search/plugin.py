"""What search contributes to the engine: the only file with a hook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armarium.api import Migration, Plugin, actions_in, hookimpl, queries_in
from armarium_search import actions, entries, hookspecs
from armarium_search.hookspecs import Scope
from armarium_search.jobs import JOBS
from armarium_search.models import metadata, saved_searches
from armarium_search.queries import saved_searches as saved_searches_read
from armarium_search.queries import search as queries_search
from armarium_search.queries.scopes import SCOPES
from armarium_search.queries.selecting import pages_with, select_by_query
from armarium_search.recipe_jobs import VECTORS
from armarium_search.routes import router
from armarium_search.stale_vectors import RestingVectors
from armarium_search.vectors.embedders import GROUP, check_embedder
from armarium_source_model.api import RestsOnText


@hookimpl
def armarium_plugin() -> Plugin:
    """Full text, vectors and saved searches."""
    return Plugin(
        name="search",
        summary="Full text, vectors and saved searches",
        prefixes=("search", "saved_search", "embeds", "make-a-vector"),
        metadata=metadata,
        version=3,
        migrations=(
            Migration(2, "Days of documents as numbers", entries.make_names_anew),
            Migration(3, "Winters last until February", entries.make_names_anew),
        ),
        actions=actions_in(actions),
        jobs=JOBS,
        recipe_jobs=(VECTORS,),
        queries=queries_in(queries_search, saved_searches_read),
        routers=(router,),
        driver_groups=(GROUP,),
        check_driver=check_embedder,
        on_open=(entries.begin,),
        on_step=(entries.note_step,),
        examine=entries.examine,
        rebuild=entries.remake,
        hookspecs=hookspecs,
        hooks=__name__,
    )


@hookimpl
def armarium_search_scopes() -> Sequence[Scope]:
    return SCOPES


@hookimpl
def armarium_source_model_rests_on_text() -> Sequence[RestsOnText]:
    return (RestingVectors(),)


armarium_checking_selected = hookimpl(optionalhook=True)(select_by_query)
armarium_checking_pages_with = hookimpl(optionalhook=True)(pages_with)


@hookimpl(optionalhook=True)
def armarium_exports_records() -> Mapping[str, object]:
    return {"saved_search": saved_searches}
