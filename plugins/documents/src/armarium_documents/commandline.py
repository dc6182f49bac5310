"""What commands of other families may import from documents; re-exports only, importable without the engine.

Documents by name, path or id, the pages that a command is about, and pages exported into a folder.
"""

from armarium_documents.cli.exports import save_drawing, say_makers, write_exports
from armarium_documents.cli.naming import DOCUMENT, document_id, document_names
from armarium_documents.cli.scope import Scope, documents_under, is_page, pages_of, scope_of
from armarium_documents.flags import FLAGS

__all__ = [
    "DOCUMENT",
    "FLAGS",
    "Scope",
    "document_id",
    "document_names",
    "documents_under",
    "is_page",
    "pages_of",
    "save_drawing",
    "say_makers",
    "scope_of",
    "write_exports",
]
