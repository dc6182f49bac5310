"""An agent of rules: it speaks MCP like any agent, and decides by a table in place of a model.

It goes through the pages of a folder, corrects words in which the reader took one letter for another, and proposes its
branch where the engine has branches. Run it against a project of yours:

    python agent_of_rules.py --library Letters.library --folder FOLDER_ID
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

CONFUSED: Mapping[str, str] = {
    # An h whose ascender the reader took for that of a b.
    "tbe": "the",
    "tbat": "that",
    "tbis": "this",
    "witb": "with",
    "wbicb": "which",
    "sbe": "she",
    "batb": "hath",
}
"""Words that are no English words, and what stands there."""

WORD = re.compile(r"[^\W\d_]+")
MOST_PAGES = 12
LINES_AT_ONCE = 200


@dataclass
class Report:
    """What the agent did."""

    pages: int = 0
    changed_pages: list[str] = field(default_factory=list)
    lines: int = 0
    steps: list[str] = field(default_factory=list)
    """The audit ids by which each step can be undone."""
    proposed: bool = False

    @property
    def summary(self) -> str:
        """Return it as a sentence."""
        return (
            f"Read {self.pages} pages and corrected {self.lines} lines on {len(self.changed_pages)} of them: "
            "b read for h in common words. Nothing else was changed."
        )


def correct_text(text: str) -> str:
    """Return a line with its confused words set right, capitals kept."""

    def right(match: re.Match[str]) -> str:
        word = match[0]
        right_word = CONFUSED.get(word.lower(), word)
        return right_word.capitalize() if word.istitle() else right_word

    return WORD.sub(right, text)


async def work(client: Client, folder_id: str | None = None, pages: int = MOST_PAGES) -> Report:
    """Do the work in one session."""
    report = Report()
    async for page in list_items(client, "find_pages", {"folder_id": folder_id} if folder_id else {}):
        if page["doc_type"] not in ("page", "file") or report.pages == pages:
            continue
        report.pages += 1
        wrong = []
        async for line in list_items(client, "read_lines", {"page_id": page["id"]}):
            text = line.get("text", "")
            if correct_text(text) != text:
                wrong.append(
                    {
                        "segment_id": line["segment_id"],
                        "text": correct_text(text),
                        # If somebody corrects the line meanwhile, theirs stands.
                        "expected_counting_id": line["representation_id"],
                    }
                )
        for start in range(0, len(wrong), LINES_AT_ONCE):
            answer = await call(client, "correct_lines", corrections=wrong[start : start + LINES_AT_ONCE])
            report.steps.append(answer["audit_id"])
        if wrong:
            report.changed_pages.append(page["id"])
            report.lines += len(wrong)
    offered = {tool.name for tool in (await client.list_tools()).tools}
    if report.lines and "propose_branch" in offered:
        await call(client, "propose_branch", summary=report.summary)
        report.proposed = True
    return report


async def list_items(client: Client, tool: str, arguments: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Yield the items of a list, page by page."""
    cursor: dict[str, Any] = {}
    while True:
        answer = await call(client, tool, **arguments, **cursor)
        for item in answer["items"]:
            yield item
        if "next_cursor" not in answer:
            return
        cursor = {"cursor": answer["next_cursor"]}


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool; end the program with the engine's sentence where it refuses."""
    answer = await client.call_tool(tool, arguments)
    text = str(getattr(answer.content[0], "text", ""))
    if answer.is_error:
        raise SystemExit(f"{tool}: {text}")
    return json.loads(text)


def main() -> None:
    """Start `armarium mcp` for a project and work in it."""
    options = argparse.ArgumentParser(description="Corrects b read for h in a folder of English pages.")
    options.add_argument("--library", required=True, help="the project, by path or name")
    options.add_argument("--folder", help="the folder or group; default: the top of the project")
    options.add_argument("--pages", type=int, default=MOST_PAGES, help="how many pages at most")
    options_given = options.parse_args()
    server = StdioServerParameters(
        command="armarium", args=["--library", options_given.library, "mcp", "--name", "agent of rules"]
    )

    async def run() -> Report:
        async with Client(server) as client:
            return await work(client, options_given.folder, options_given.pages)

    done = asyncio.run(run())
    print(done.summary)
    if not done.proposed and done.steps:
        print("Each step can be undone:", *done.steps, file=sys.stderr)


if __name__ == "__main__":
    main()
