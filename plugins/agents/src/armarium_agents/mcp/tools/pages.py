"""Tools for pages: find, read, look at, describe, move and group them, and export one."""

from __future__ import annotations

from armarium_agents.mcp.bounds import MOST_ITEMS, PICTURE_SIDE, Picture, Rows, Text, Whole
from armarium_agents.mcp.declarations import Act, Read, Tool, choice, flag, identities, identity, whole, words

PAGE = identity("The page's id")
LIMIT = whole("How many at most", 1, MOST_ITEMS, 50)
SIDE = whole("Pixels of the long side", 64, PICTURE_SIDE, PICTURE_SIDE)
NODE = ("id", "name", "doc_type", "node_kind", "parent_id", "child_count", "prototype_key", "date_original")
DESCRIBED = (*NODE, "path", "page_label", "language", "script", "date_iso", "attributes", "source_metadata")

PAGES = (
    Tool(
        name="find_pages",
        title="Find pages",
        about="Lists what is in a folder or group, or at the top of the project: folders, groups and pages, by id and name.",
        params={
            "folder_id": identity("The folder or group; left out: the top"),
            "kind": choice("Only nodes of this kind", "folder", "group", "page", "file"),
            "limit": LIMIT,
        },
        does=Read("/api/documents", names={"folder_id": "parent_id", "kind": "doc_type"}),
        shown=Rows(fields=NODE),
        tells_words=True,
    ),
    Tool(
        name="search",
        title="Search",
        about="Finds pages by the words on them, the names they name and what is said of them.",
        params={
            "query": words("Words, or a phrase in quotation marks"),
            "folder_id": identity("Only below this folder"),
            "fuzzy": flag("Also words one or two letters different, as they are misread or spelled"),
            "limit": whole("How many at most", 1, 100, 20),
        },
        required=("query",),
        does=Read(
            "/api/search",
            "POST",
            names={"folder_id": "filters.parent_id", "fuzzy": "use_fuzzy_match"},
            fixed={"search_type": "fulltext"},
        ),
        shown=Rows(
            "results",
            fields=("document_id", "score", "content_preview", "highlights", "transcript_excerpts"),
            beside=("notice", "suggestions", "entity_hits", "claim_hits"),
            most=100,
        ),
        tells_words=True,
    ),
    Tool(
        name="read_page",
        title="Read a page",
        about="The text of a page as it reads now, in reading order. A long one is cut: go on with next_cursor. "
        "read_lines gives it line by line, with confidence; look_at_page its picture.",
        params={"page_id": PAGE, "furniture": flag("Also headers, page numbers and the like")},
        required=("page_id",),
        does=Read("/api/segments/document/{page_id}/text", names={"furniture": "include_furniture"}),
        shown=Text(
            beside=("document_id", "pass_name", "pass_basis", "order_basis", "notice", "read_elsewhere")
        ),
        tells_words=True,
    ),
    Tool(
        name="view_page",
        title="See how a page is described",
        about="What is recorded of a page, folder or group: name, kind, date, language, attributes, where it lies.",
        params={"page_id": PAGE},
        required=("page_id",),
        does=Read("/api/documents/{page_id}"),
        shown=Whole(DESCRIBED),
        tells_words=True,
    ),
    Tool(
        name="look_at_page",
        title="Look at a page",
        about="The picture of a page.",
        params={"page_id": PAGE, "size": SIDE},
        required=("page_id",),
        does=Read("/api/iiif/image/{page_id}/full/!{size},{size}/0/default.jpg"),
        shown=Picture(),
        tells_words=True,
    ),
    Tool(
        name="describe_page",
        title="Describe a page",
        about="Records what a page, folder or group is: its name, kind, date, language, attributes. What is left out stays.",
        params={
            "page_id": PAGE,
            "name": words("What it is called", 255),
            "kind": words("Its prototype, by key", 200),
            "date_as_written": words("Its date as it is written there", 500),
            "date": words("Its date as ISO 8601: 1650, 1650-03, 1650-03-12", 40),
            "language": words("BCP 47: la, es, de-1901", 40),
            "script": words("ISO 15924: Latn, Hebr", 40),
            "page_label": words("Its number or leaf: 12r", 200),
            "attributes": {
                "type": "object",
                "description": "Attributes of its prototype; these replace the former",
            },
        },
        required=("page_id",),
        does=Act(
            "document.update",
            names={
                "page_id": "document_id",
                "kind": "prototype_key",
                "date_as_written": "date_original",
                "date": "date_iso",
            },
        ),
        shown=Whole((*DESCRIBED, "audit_id")),
    ),
    Tool(
        name="move_pages",
        title="Move pages",
        about="Puts pages, groups or folders into a folder or group, at its end or after one of its members.",
        params={
            "page_ids": identities("What to move, in the order it is to have"),
            "folder_id": identity("Where to; left out: the top of the project"),
            "after_id": identity("The member it is to stand after"),
        },
        required=("page_ids",),
        does=Act(
            "document.move", names={"page_ids": "ids", "folder_id": "parent_id"}, fixed={"parent_id": None}
        ),
    ),
    Tool(
        name="make_group",
        title="Make a group or folder",
        about="Makes a group for the pages of one document, or a folder. Then move the pages into it.",
        params={
            "name": words("What it is called", 255),
            "kind": choice("A group is one document of several pages", "group", "folder"),
            "folder_id": identity("Where to make it; left out: the top of the project"),
            "prototype": words("Its prototype, by key", 200),
        },
        required=("name", "kind"),
        does=Act(
            "document.create",
            names={"kind": "doc_type", "folder_id": "parent_id", "prototype": "prototype_key"},
        ),
        shown=Whole((*NODE, "audit_id")),
    ),
    Tool(
        name="export_page",
        title="Export a page",
        about="A page as a file of another format, with what that format cannot say. A long one is cut: go on with next_cursor.",
        params={
            "page_id": PAGE,
            "format": choice("The format", "plain-text", "markdown", "pagexml", "alto", "tei", "hocr"),
        },
        required=("page_id", "format"),
        does=Read("/api/documents/{page_id}/export/{format}"),
        shown=Text("content", beside=("filename", "format", "losses")),
        tells_words=True,
    ),
)
