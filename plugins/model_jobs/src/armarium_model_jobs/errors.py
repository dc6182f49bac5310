"""The refusals of the jobs that ask a model, one sentence each."""

from __future__ import annotations

from armarium.api import Invalid


def prompt_needed() -> Invalid:
    """There is no prompt."""
    return Invalid("State in the setting prompt what the model is to be asked.", code="prompt_needed")


def columns_needed() -> Invalid:
    """No columns were named for a table."""
    return Invalid("Name the columns of the table in the setting columns.", code="columns_needed")


def column_twice(name: str) -> Invalid:
    """Two columns have the same name."""
    return Invalid(f"The column {name} is named twice; name each once.", code="column_twice")
