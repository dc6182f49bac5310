"""What the jobs that ask a model refuse, and with which words."""

from __future__ import annotations

from armarium.api import Invalid


def prompt_needed() -> Invalid:
    """There is no question."""
    return Invalid("Say in the setting prompt what the model is to be asked.", code="prompt_needed")


def columns_needed() -> Invalid:
    """A table without columns."""
    return Invalid("Name the columns of the table in the setting columns.", code="columns_needed")


def column_twice(name: str) -> Invalid:
    """Two columns of one name."""
    return Invalid(f"The column {name} is named twice; name each once.", code="column_twice")
