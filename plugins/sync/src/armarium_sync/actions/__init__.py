"""The writes of synced folders."""

from __future__ import annotations

from armarium_sync.actions.folders import intake, mode, tie, untie
from armarium_sync.actions.removing import remove_duplicates
from armarium_sync.actions.returning import arrange, follow, take_in

ACTIONS = (tie, untie, intake, mode, remove_duplicates, take_in, follow, arrange)
