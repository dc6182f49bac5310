"""Tools for work: start and follow it, say what is in doubt, measure, see what was done, undo it, propose it."""

from __future__ import annotations

from armarium_agents.mcp.bounds import Rows, Whole
from armarium_agents.mcp.branches import PROPOSE
from armarium_agents.mcp.declarations import Act, Read, Tool, choice, identities, identity, rows, words
from armarium_agents.mcp.tools.pages import LIMIT

PAGES = identities("Pages, or folders whose pages are meant")
JOB = (
    *("id", "kind", "title", "state", "done", "total", "reason", "started_at", "finished_at", "result"),
    *("summary", "job_id", "status", "audit_id"),
)

WORK = (
    Tool(
        name="list_readers",
        title="List what can read here",
        about="The readers and line finders of this engine, and whether each is installed.",
        does=Read("/api/reading/readers"),
        shown=Rows(
            fields=("name", "label", "can", "installed", "reading_needs_model", "languages", "scripts"),
            paged=False,
        ),
    ),
    Tool(
        name="read_pages",
        title="Start reading pages",
        about="Starts finding and reading the lines of pages, in the background; follow_work says how far it is.",
        params={
            "page_ids": PAGES,
            "reader": words("By name, from list_readers", 200),
            "model": words("A model's id", 500),
            "language": words("BCP 47", 40),
        },
        required=("page_ids",),
        does=Act("reading.read_pages", names={"page_ids": "scope_ids"}),
        shown=Whole(JOB),
    ),
    Tool(
        name="list_work",
        title="List the work going on",
        about="The background work that runs, waits or failed.",
        params={"limit": LIMIT},
        does=Read("/api/activity/jobs"),
        shown=Rows(fields=JOB, paged=False),
    ),
    Tool(
        name="follow_work",
        title="Follow work",
        about="How far a piece of background work is, and how it ended.",
        params={"job_id": identity("The job's id")},
        required=("job_id",),
        does=Read("/api/activity/jobs/{job_id}"),
        shown=Whole(JOB),
    ),
    Tool(
        name="list_in_doubt",
        title="List what is in doubt",
        about="What rests on text that was corrected since: names, statements, translations that should be looked at again.",
        params={"page_id": identity("Only of this page"), "limit": LIMIT},
        does=Read("/api/staleness", names={"page_id": "document_id"}),
        shown=Rows(beside=("pages", "pages_left")),
        tells_words=True,
    ),
    Tool(
        name="how_far_pages_are",
        title="See how far pages are",
        about="For each page of a folder: how many lines, how many unread, who or what read them, whether it is checked.",
        params={"folder_id": identity("The folder or group"), "limit": LIMIT},
        does=Read("/api/segments/coverage", names={"folder_id": "parent_id"}),
        shown=Rows(),
    ),
    Tool(
        name="measure_readers",
        title="Measure readers",
        about="Starts measuring readers against pages that a person has checked; list_scores gives the figures.",
        params={
            "candidates": rows(
                "The models to measure",
                20,
                ("model", "reader"),
                model=words("The model's id", 500),
                reader=choice("Its kind", "linereader", "vision"),
                provider=words("Who serves a vision model", 200),
            ),
            "page_ids": identities("The checked pages to measure on"),
        },
        does=Act("evaluation.run", names={"page_ids": "held_out_ids"}),
        shown=Whole(JOB),
    ),
    Tool(
        name="list_scores",
        title="List the scores of readers",
        about="How many characters readers got wrong on checked pages, the newest first.",
        params={"model": words("Only this model", 500), "limit": LIMIT},
        does=Read("/api/evaluation/scores"),
        shown=Rows(paged=False),
    ),
    Tool(
        name="propose_branch",
        title="Propose what you did",
        about="Says that your branch is finished: a person is shown what it changes, with your summary, and takes what is good.",
        params={"summary": words("What you did, what you left, and what to look at twice", 5000)},
        required=("summary",),
        does=Act(PROPOSE),
    ),
)
