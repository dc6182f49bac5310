"""A project's own prompts: text files in its folder `recipe`, named by the job that asks a model."""

from __future__ import annotations

from pathlib import PurePosixPath

from armarium.api import Library, ServiceError, open_plain
from armarium_reading import errors

LONGEST = 64 << 10
"""The largest size of a prompt, in bytes."""


def own_prompt(library: Library, name: str) -> str:
    """Return the text of the prompt file *name* of a project: a path within its folder `recipe`.

    Raises Invalid for a path that leads out of the folder or through a link, or to something other than UTF-8
    text of at most 64 KiB; NotFound if there is no such file.
    """
    folder = library.path.resolve() / "recipe"
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or name.startswith(("/", "\\", "~")) or ".." in parts or ":" in parts[0] or "\0" in name:
        raise errors.prompt_elsewhere(name)
    path = folder.joinpath(*parts)
    try:
        with open_plain(path, library.is_closed, within=folder) as file:
            content = file.read(LONGEST + 1)
    except FileNotFoundError:
        raise errors.unknown_prompt(name) from None
    except (OSError, ServiceError) as error:
        raise errors.no_prompt(name) from error
    if len(content) > LONGEST:
        raise errors.no_prompt(name)
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise errors.no_prompt(name) from None
    if not text:
        raise errors.no_prompt(name)
    return text
