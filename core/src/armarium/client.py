"""What a program that speaks to an engine uses of its code, and the command line first: how to find one on this machine,
and the words both use. Loads the standard library only.
"""

from armarium import __version__ as __version__
from armarium.effort import Effort as Effort
from armarium.engine_card import LOCK as LOCK
from armarium.engine_card import Reachable as Reachable
from armarium.engine_card import asked_for as asked_for
from armarium.engine_card import behaviour as behaviour
from armarium.engine_card import code_in_place as code_in_place
from armarium.engine_card import fingerprint as fingerprint
from armarium.engine_card import read_card as read_card
from armarium.engine_card import running_engine as running_engine
from armarium.engine_card import state_folder as state_folder
from armarium.errors import ServiceError as ServiceError
from armarium.file_names import fitting_name as fitting_name
from armarium.ids import is_id as is_id
from armarium.principals import AgentRole as AgentRole
from armarium.principals import Role as Role
