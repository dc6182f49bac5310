"""Who may see what of a branch that lies with its project: what the records of either withhold.

What is restricted in the project after a branch was made is withheld in the branch from then on, and shown again once it is no
longer restricted. A branch whose project this engine does not know, as a colleague has one, is withheld by its own records alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from armarium.history.audit import head
from armarium.history.visibility import Rights, Use, Visibility, WithheldAlong, WithheldRows
from armarium.history.visible_rows import NODES, PARTS
from armarium.principals import Principal
from armarium.projects.branches import card_of, find_project
from armarium.projects.libraries import Library
from armarium.store.database import raw_of

if TYPE_CHECKING:
    from armarium.engine import Engine


class VisibilityOfBranch(Visibility):
    """Which caller may see what of a branch. Where its project is known and does not open, whoever does not see everything is
    refused with the reason.
    """

    def __init__(
        self,
        engine: Engine,
        branch: Library,
        rights: Rights | None,
        along: Sequence[WithheldAlong],
        kept_by: str | None,
    ) -> None:
        super().__init__(branch.db, branch.schema, rights, along, kept_by)
        self._engine, self._branch = engine, branch

    @cached_property
    def _project_uuid(self) -> str | None:
        card = card_of(self._branch)
        return None if card is None else card.project_uuid

    def _find_project(self) -> Visibility | None:
        if self._project_uuid is None:
            return None
        project = find_project(self._engine, self._branch.path, self._project_uuid)
        return None if project is None else project.db.visibility

    def surely_all(self, principal: Principal) -> bool:
        """Return whether *principal* sees everything on both sides, as far as is known without a query."""
        if principal.may("owner"):
            return True
        project = self._find_project() if super().surely_all(principal) else None
        return super().surely_all(principal) and (project is None or project.surely_all(principal))

    def limits(self, principal: Principal) -> bool:
        """Return whether there may be anything on either side that *principal* does not see."""
        if principal.may("owner"):
            return False
        project = self._find_project()
        return super().limits(principal) or (project is not None and project.limits(principal))

    def reader(self, principal: Principal) -> str:
        """Return who *principal* is for the records, as of the project's last step."""
        project = self._find_project()
        if project is None:
            return super().reader(principal)
        with project.db.read_all() as conn:
            return f"{super().reader(principal)} {head(raw_of(conn)).row_hash}"

    def find_withheld(self, conn: Connection, principal: Principal) -> WithheldRows:
        """Return what the records of either withhold, of the project with everything beneath it there."""
        own, project = super().find_withheld(conn, principal), self._find_project()
        if project is None or not project.limits(principal):
            return own
        with project.db.read_all() as all_of_it:
            everything = project.find_withheld(all_of_it, principal).everything
        with project.read(principal) as visible:
            nodes, parts = (
                frozenset(row[0] for row in raw_of(visible).execute(f"SELECT id FROM temp.{name}"))
                for name in (NODES, PARTS)
            )
        return WithheldRows(own.everything or everything, own.nodes | nodes, own.parts | parts)

    def reasons(self, principal: Principal, ids: Iterable[str], use: Use) -> dict[str, str]:
        """Return the reasons of both sides."""
        ids, project = list(ids), self._find_project()
        reasons_there = {} if project is None else project.reasons(principal, ids, use)
        return reasons_there | super().reasons(principal, ids, use)
