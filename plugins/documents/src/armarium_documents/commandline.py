"""What commands of other families may import from documents; re-exports only, importable without the engine.

Documents by name, path or id, the pages that a command is about, and pages exported into a folder.
"""

from armarium_documents.cli.exports import save_drawing as save_drawing
from armarium_documents.cli.exports import say_makers as say_makers
from armarium_documents.cli.exports import write_exports as write_exports
from armarium_documents.cli.naming import DOCUMENT as DOCUMENT
from armarium_documents.cli.naming import document_id as document_id
from armarium_documents.cli.naming import document_names as document_names
from armarium_documents.cli.scope import Scope as Scope
from armarium_documents.cli.scope import documents_under as documents_under
from armarium_documents.cli.scope import is_page as is_page
from armarium_documents.cli.scope import pages_of as pages_of
from armarium_documents.cli.scope import scope_of as scope_of
from armarium_documents.flags import FLAGS as FLAGS
