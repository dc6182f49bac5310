"""The verdicts on installed third-party distributions: stored by their fingerprint, reached by a trial for new ones.

What comes with this release of Armarium is not tried: its tests have done so. Its declarations are checked when it is
loaded, as everybody's are.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from armarium.engine_card import TRIAL_SECONDS, VERDICTS, asked_for, state_folder
from armarium.plugins.offers import Offer, package_stamp, unit_of
from armarium.plugins.trial_processes import CannotTry, Failed, try_out
from armarium_worker import replacing

log = logging.getLogger("armarium.plugins")

FORMAT = 1
"""The version of the file and of what a trial checks; raising it repeats all trials."""


class Trials:
    """The verdicts of one engine (or command), read from *file* and written back by `save`."""

    def __init__(self, file: Path | None, *, seconds: float = TRIAL_SECONDS) -> None:
        self.file = file
        self.seconds = seconds
        self._fresh: dict[str, dict[str, Any]] = {}

    @classmethod
    def of_environment(cls) -> Trials:
        """Return those of this user's engine, without loading its settings, which takes time (`Settings.verdicts`)."""
        settings = asked_for(os.environ)
        trials_setting = settings.get("PLUGIN_TRIALS")
        seconds = settings.get("PLUGIN_TRIAL_SECONDS", "")
        # An invalid number is refused by the code that reads the settings.
        return cls(
            Path(trials_setting) if trials_setting else state_folder(os.environ) / VERDICTS,
            seconds=float(seconds) if seconds.replace(".", "", 1).isdigit() else TRIAL_SECONDS,
        )

    def find_failures(self, offers: Sequence[Offer]) -> Failed:
        """Return what of *offers* did not pass; what has no verdict is tried now."""
        sound = [offer for offer in offers if offer.fault is None]
        strangers = [offer for offer in sound if not offer.first_party]
        keys = _Keys(sound)
        stored = self._read_stored() if strangers else {}
        untried = [offer for offer in strangers if not keys.fits(offer, stored.get(offer.key))]
        verdicts = {
            offer.key: dict(stored[offer.key]["failed"]) for offer in strangers if offer not in untried
        }
        if untried:
            log.info("trying %s", ", ".join(offer.key for offer in untried))
            try:
                tried = try_out(
                    untried, [offer for offer in sound if offer not in untried], verdicts, self.seconds
                )
                for offer in untried:
                    failed = tried[offer.key]
                    self._fresh[offer.key] = {"key": keys.key_of(offer, failed), "failed": failed}
            except CannotTry as error:
                log.warning("plugins cannot be tried here: %s", error)
                why = f"It could not be tried before loading, and is left out: {error}"
                tried = {offer.key: dict.fromkeys(map(unit_of, offer.entries), why) for offer in untried}
            verdicts |= tried
        return {(key, unit): why for key, failures in verdicts.items() for unit, why in failures.items()}

    def save(self) -> None:
        """Write the verdicts if the folder exists; without a file they are tried again."""
        if not self._fresh or self.file is None or not self.file.parent.is_dir():
            return
        # Read again: another engine may have written meanwhile.
        verdicts = {**self._read_stored(), **self._fresh}
        try:
            with replacing(self.file) as beside:
                beside.write_text(
                    json.dumps({"format": FORMAT, "verdicts": verdicts}, ensure_ascii=False), "utf-8"
                )
        except OSError as error:
            log.info("the verdicts on plugins could not be saved: %s", error)
        self._fresh = {}

    def _read_stored(self) -> dict[str, dict[str, Any]]:
        if self.file is None:
            return {}
        try:
            stored = json.loads(self.file.read_text(encoding="utf-8"))
            if stored["format"] != FORMAT:
                return {}
            return {
                str(name): {
                    "key": str(verdict["key"]),
                    "failed": {str(name): str(reason) for name, reason in verdict["failed"].items()},
                }
                for name, verdict in stored["verdicts"].items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}


class _Keys:
    """What a verdict on an offer depends on: its fingerprint, those of the offers it needs, the engine, the
    interpreter.
    """

    def __init__(self, offers: Sequence[Offer]) -> None:
        self._offers = {offer.key: offer for offer in offers}

    @cached_property
    def _engine(self) -> str:
        return "\n".join(
            [
                *(str(FORMAT), sys.version, *package_stamp("armarium"), *package_stamp("armarium_worker")),
                # What commands import: without it, none can be tried.
                *package_stamp("armarium_cli"),
            ]
        )

    @cached_property
    def _surroundings(self) -> str:
        """Return what else is installed, according to the folders on the path: installing something there may cure a
        fault.
        """
        stamps = []
        for place in sys.path:
            with contextlib.suppress(OSError):
                # Not the folder the program was started in, where anything may change at any time.
                if place and os.path.isdir(place) and place != os.getcwd():
                    stamps.append(f"{place} {os.stat(place).st_mtime_ns}")
        return "\n".join(stamps)

    def key_of(self, offer: Offer, failed: dict[str, str]) -> str:
        """Return the key of a verdict on *offer*."""
        needed = self._list_needed(offer, set())
        parts = [self._engine, *(self._offers[key].fingerprint for key in sorted(needed))]
        if failed:
            parts.append(self._surroundings)
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _list_needed(self, offer: Offer, keys: set[str]) -> set[str]:
        keys.add(offer.key)
        for key in offer.requires:
            if key in self._offers and key not in keys:
                self._list_needed(self._offers[key], keys)
        return keys

    def fits(self, offer: Offer, stored: dict[str, Any] | None) -> bool:
        """Return whether a stored verdict still applies to what is installed now."""
        return stored is not None and stored["key"] == self.key_of(offer, stored["failed"])
