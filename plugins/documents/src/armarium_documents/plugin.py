"""The plugin of the documents family: the only file with a hook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from armarium.api import Migration, Plugin, actions_in, hookimpl, index_names, queries_in
from armarium_documents import actions, hookspecs, queries
from armarium_documents.actions import classifications, documents, transfer
from armarium_documents.actions.transfer import departing, recovery
from armarium_documents.hookspecs import Carrier, Tie, Vocabulary
from armarium_documents.jobs.imports import import_files
from armarium_documents.jobs.pages import page_pictures
from armarium_documents.jobs.thumbnails import thumbnails
from armarium_documents.models import classifications as classification_table
from armarium_documents.models import documents as document_table
from armarium_documents.models import metadata
from armarium_documents.queries import documents as documents_read
from armarium_documents.queries.annotations import AnnotationLocator
from armarium_documents.queries.files import exported_revisions
from armarium_documents.routes import router

_CARRIER = Carrier(
    kinds={
        "document": "documents",
        "rendition": "renditions",
        "artifact": "artifacts",
        "content_representation": "representations",
        "annotation": "annotations",
    },
    vocabulary=(
        Vocabulary("classification", "key", used_by=(("document", "prototype_key"),), parent="parent_key"),
    ),
    ties=(Tie("alias", departing.aliases, departing.cut_aliases),),
)
"""How documents are carried to another project."""


@hookimpl
def armarium_plugin() -> Plugin:
    """Nodes, renditions, artifacts, representations; import, thumbnails, Trash."""
    return Plugin(
        name="documents",
        summary="Folders, files and pages with their pictures; import, thumbnails and the Trash",
        prefixes=(
            "document",
            "rendition",
            "annotation",
            "artifact",
            "bookmark",
            "classification",
            "content_representation",
            "representation.revise",
            "thumbnail",
            "thumbnails",
            "import-files",
            "page-pictures",
        ),
        metadata=metadata,
        version=2,
        migrations=(Migration(2, "Documents are in the order of names", index_names(document_table)),),
        actions=actions_in(actions, transfer),
        jobs=(import_files, page_pictures, thumbnails),
        queries=queries_in(queries),
        routers=(router,),
        on_create=(documents.seed_sources, classifications.seed_prototypes),
        on_open=(recovery.settle_transfers,),
        names=documents_read.names_of,
        stats=_stats,
        hookspecs=hookspecs,
        hooks=__name__,
    )


def _stats(conn: Connection) -> dict[str, int]:
    """Return the numbers of live documents and pages."""
    row = conn.exec_driver_sql(
        "SELECT count(*), count(*) FILTER (WHERE doc_type = 'page' OR (doc_type = 'file' AND file_type = 'image'))"
        " FROM document WHERE deleted_at IS NULL"
    ).one()
    return {"documents": int(row[0]), "pages": int(row[1])}


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    return (_CARRIER,)


@hookimpl(optionalhook=True)
def armarium_source_model_locators() -> Sequence[AnnotationLocator]:
    return (AnnotationLocator(),)


@hookimpl(optionalhook=True)
def armarium_exports_records() -> Mapping[str, object]:
    return {"classification": classification_table, "revision": exported_revisions}
