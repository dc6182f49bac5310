"""What other families may use of rights: the table of records, and what is seen along. To learn whether something is
allowed, they ask `armarium.api`.
"""

from armarium_rights.pictures import seen_along as seen_along
from armarium_rights.records import records as records
