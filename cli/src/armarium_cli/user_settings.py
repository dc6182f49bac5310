"""The settings given by the environment of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarium_cli.refusals import Refused

if TYPE_CHECKING:
    from armarium.settings import Settings


def settings_of_this_user() -> Settings:
    """Return the settings from the environment; raises Refused naming the variable that cannot be used."""
    # Imported late: pydantic takes longer to load than an engine takes to answer.
    from pydantic import ValidationError

    from armarium.settings import Settings

    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = "_".join(str(part) for part in first["loc"][:1]).upper()
        raise Refused(f"SERVICE_{name} is {first['input']!r} and cannot be used: {first['msg']}.") from error
