"""How tables of earlier versions of documents become those of this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarium.api import Migration
from armarium_documents.models import documents

if TYPE_CHECKING:
    from alembic.operations import Operations


def _index_names(op: Operations) -> None:
    (index,) = (one for one in documents.indexes if one.name == "ix_document_name")
    index.create(op.get_bind(), checkfirst=True)


MIGRATIONS = (Migration(2, "what lies in a folder is found by its name", _index_names),)
