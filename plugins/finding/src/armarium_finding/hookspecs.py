"""The extension point of finding: cues of other languages."""

from __future__ import annotations

from armarium.api import hookspec
from armarium_finding.cues import CueTable


@hookspec
def armarium_finding_cues() -> CueTable:
    """State the cues and parties that the plugin adds; every row is tried on every page.

    Called once, when an engine is assembled. All answers count.
    """
