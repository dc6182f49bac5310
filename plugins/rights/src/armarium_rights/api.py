"""What other families may use of rights: the table of records. To learn whether something is allowed, they
ask `armarium.api`.
"""

from __future__ import annotations

from armarium_rights.models import records

__all__ = ["records"]
