"""A run as seen by a caller from whom some of its pages are withheld: without them, and without counts that
reveal them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import withheld_nodes
from armarium_recipes.project.accounts import NONE_DONE


def seen_run(conn: Connection, row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return *row* of a run with only the pages, and statements about its cards, that the caller may see;
    None if it may see no page.
    """
    hidden = withheld_nodes(conn)
    pages = [page for page in row["page_ids"] if page not in hidden]
    if len(pages) == len(row["page_ids"]):
        return dict(row)
    if not pages:
        return None
    cards = [_seen_card(card, len(pages)) for card in row["cards"]]
    failed = next((card["title"] for card in cards if card.get("state") == "failed"), None)
    reason = f"{failed} failed." if failed is not None else _without_numbers(row["reason"])
    return {**row, "page_ids": pages, "cards": cards, "reason": reason, "partial": True}


def _seen_card(card: Mapping[str, Any], pages: int) -> dict[str, Any]:
    # The sentence of a failure may name a page.
    why = None if card.get("state") == "failed" else _without_numbers(card.get("why"))
    account = None if card.get("account") is None else NONE_DONE
    return {**card, "why": why, "planned": min(card.get("planned", 0), pages), "account": account}


def seen_account(account: Mapping[str, Any], pages: int) -> dict[str, Any]:
    """Return *account* of a card reduced to at most *pages* pages: a job over many pages counts all of them."""
    done, failed = min(account["done"], pages), min(account["failed"], pages)
    of = min(account["pages"], pages)
    pages_left = max(0, of - done - failed)
    return {
        **account,
        "pages": of,
        "done": done,
        "failed": failed,
        "left": pages_left,
        "withheld": min(account.get("withheld", 0), pages_left),
    }


def _without_numbers(words: str | None) -> str | None:
    """Return *words* unless they contain a number, because what is counted may be withheld."""
    return None if words is None or any(sign.isdigit() for sign in words) else words


def seen_runs(conn: Connection, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the runs among *rows* of which the caller may see a page, as it sees them; also runs without pages."""
    return [run for row in rows if (run := seen_run(conn, row)) is not None]
