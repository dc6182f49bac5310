"""The format drivers of an engine: their names and aliases, and which of them a file belongs to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from armarium.api import NotFound
from armarium_formats.driver import FormatDriver
from armarium_formats.errors import not_kept_in, not_readable, not_recognised, not_writable, unknown_format
from armarium_formats.file_guess import find_true_kind, seems

if TYPE_CHECKING:
    from armarium.api import Engine

GROUP = "armarium.formats"

_PARTS = (*FormatDriver.__annotations__, "sniff", "read", "write")
"""What a format driver must have to be asked at all."""
UNSURE = 0.5
"""A driver less sure than this is a last resort, for which the file's name must speak as well."""

log = logging.getLogger("armarium.formats")


def drivers(engine: Engine) -> list[FormatDriver]:
    """Return an instance of each driver that loads, ours first, then by name; others are in
    `engine.drivers.refused`.

    Ours come first, so that no other driver's alias or detection takes over our formats.
    """
    format_drivers: list[FormatDriver] = []
    names = engine.drivers.names(GROUP)
    for name in sorted(names, key=lambda name: (not engine.drivers.is_first_party(GROUP, name), name)):
        try:
            driver = engine.drivers.load(GROUP, name)()
        except NotFound:
            continue
        except Exception as error:
            why = f"No instance of it can be made: {type(error).__name__}."
            engine.drivers.refuse(GROUP, name, why, engine.drivers.distribution_of(GROUP, name))
            continue
        format_drivers.append(driver)
    return format_drivers


def check_driver(group: str, name: str, driver: Any) -> str | None:
    """Return why what is installed under *name* is not a format driver of that name; None if it is one."""
    lacking = [part for part in _PARTS if not hasattr(driver, part)]
    if not isinstance(driver, type) or lacking:
        fault = f"lacks {', '.join(lacking)}" if lacking else "is not a class"
        return f"It {fault}; derive it from Format of armarium_formats.api."
    if getattr(driver, "name", None) != name:
        own_name = str(getattr(driver, "name", None))[:80]
        return f"It calls itself {own_name} but is installed under the name {name}; its author must use one name."
    return None


def file_ending(driver: FormatDriver) -> str:
    """Return how the files of a format end in folders that hold those of several."""
    ending = getattr(driver, "file_ending", "")
    return ending or (driver.extensions[0] if driver.extensions else f".{driver.name}")


def readable(engine: Engine) -> list[str]:
    """Return the names of the formats that are read."""
    return [driver.name for driver in drivers(engine) if driver.reads]


def writable(engine: Engine) -> list[str]:
    """Return the names of the formats that are written."""
    return [driver.name for driver in drivers(engine) if driver.writes]


def find_driver(engine: Engine, name: str) -> FormatDriver | None:
    """Return the driver of this name or alias, ignoring case, or None."""
    wish = name.strip().lower()
    format_drivers = drivers(engine)
    return next((driver for driver in format_drivers if driver.name == wish), None) or next(
        (driver for driver in format_drivers if wish in driver.aliases), None
    )


def writer(engine: Engine, name: str) -> FormatDriver:
    """Return the driver to write with; NotFound if there is none, Conflict if it only reads."""
    driver = find_driver(engine, name)
    if driver is None:
        raise unknown_format(name[:80], writable(engine))
    if not driver.writes:
        raise not_writable(driver.label, writable(engine))
    return driver


def kept_driver(engine: Engine, name: str, *beside: str) -> FormatDriver:
    """Return the driver that writes a format in which files are kept; Invalid names those there are, and *beside*."""
    writers = {driver.name: driver for driver in drivers(engine) if driver.writes}
    if name not in writers:
        raise not_kept_in(name[:80], ", ".join(dict.fromkeys([*beside, *writers])))
    return writers[name]


def reader(
    engine: Engine, data: bytes, filename: str, format_name: str | None, *, likely: str | None = None
) -> FormatDriver:
    """Return the driver to read *data* with: the one requested, else the one that recognises it best.

    The first that is certain (1.0) is taken; *likely* is asked first: the driver of the previous file.
    """
    if format_name:
        driver = find_driver(engine, format_name)
        if driver is None or not driver.reads:
            raise not_readable(format_name[:80], readable(engine))
        return driver
    best: FormatDriver | None = None
    surest = 0.0
    for driver in sorted(drivers(engine), key=lambda driver: driver.name != likely):
        if driver.reads:
            try:
                sure = driver.sniff(data)
            except Exception:
                log.exception("the format driver %s failed to look at a file", driver.name)
                continue
            if sure > surest:
                best, surest = driver, sure
                if sure >= 1.0:
                    break
    kind = None
    if best is None:
        kind = seems(data)
    elif surest < UNSURE:
        kind = find_true_kind(filename, data)
    if best is None or kind is not None:
        raise not_recognised(filename, f": it seems to be {kind}" if kind else "", readable(engine))
    return best
