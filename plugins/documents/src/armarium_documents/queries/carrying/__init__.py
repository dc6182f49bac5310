"""What a transfer carries: chosen, given new ids and read back, as derived from the tables' declarations."""

from armarium_documents.queries.carrying.selection import Selection
from armarium_documents.queries.carrying.tables import CarriedTable, carried_tables

__all__ = ["CarriedTable", "Selection", "carried_tables"]
