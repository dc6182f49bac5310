"""Relations between plugins: which tables each provides, which it depends on, and which names clash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from armarium.store.tables import rules_of

if TYPE_CHECKING:
    from armarium.plugin import Plugin


def lack_of(plugin: Plugin, home: dict[str, str]) -> str | None:
    """Return why a plugin cannot be loaded: its tables or rights name a table that no loaded plugin provides."""
    for action in plugin.actions:
        for rule in action.rules:
            if rule.table not in home:
                return (
                    f"Its action {action.name} has a rule over {rule.table}, which no loaded plugin provides."
                )
        for law in action.laws:
            if law.table not in home:
                return (
                    f"Its action {action.name} has a law over {law.table}, which no loaded plugin provides."
                )
    for name in targets_of(plugin):
        if name not in home:
            return f"Its tables refer to {name}, which no loaded plugin provides."
    return None


def first_clash(kind: str, names: Sequence[str], existing: set[str]) -> str | None:
    earlier: set[str] = set()
    for name in names:
        if name in existing or name in earlier:
            return f"Its {kind} {name} already exists; names are never overwritten."
        earlier.add(name)
    return None


def trees_of(plugin: Plugin) -> list[str]:
    """Return the tables whose rows are the nodes that can be locked."""
    tables = plugin.metadata.tables.values() if plugin.metadata is not None else ()
    return [table.name for table in tables if rules_of(table).tree is not None]


def tables_of(plugin: Plugin) -> list[str]:
    names: list[str] = []
    for metadata in (plugin.metadata, plugin.engine_metadata):
        if metadata is not None:
            names += [table.name for table in metadata.tables.values() if rules_of(table).kind != "foreign"]
    return list(dict.fromkeys(names))


def targets_of(plugin: Plugin) -> set[str]:
    """Return the tables that the plugin's foreign keys refer to and its indexes follow, without stand-ins."""
    if plugin.metadata is None:
        return set()
    tables = plugin.metadata.tables.values()
    keys = {key.column.table for table in tables for key in table.foreign_keys}
    followed = {follows.table for table in tables if (follows := rules_of(table).follows) is not None}
    return {table.name for table in keys | followed if rules_of(table).kind != "foreign"}


def plugins_under(plugin: Plugin, home: dict[str, str]) -> set[str]:
    return {home[name] for name in targets_of(plugin) if name in home} - {plugin.name}
