"""What other families may use of rights: the table of records. To learn whether something is allowed, they
ask `armarium.api`.
"""

from armarium_rights.records import records as records
