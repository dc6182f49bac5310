"""What other families may use of training: the models trained here, the plan of an evaluation and its entries
on cards, how candidates are compared, and how a family follows an evaluation.

An evaluation itself is started by the action `evaluation.run`.
"""

from armarium_training.cards import entry_of_run as entry_of_run
from armarium_training.catalogue import TrainedModel as TrainedModel
from armarium_training.catalogue import trained_models as trained_models
from armarium_training.line_sets import MIN_LINES as MIN_LINES
from armarium_training.line_sets import MIN_PAGES as MIN_PAGES
from armarium_training.line_sets import TaughtLine as TaughtLine
from armarium_training.line_sets import checked_lines as checked_lines
from armarium_training.line_sets import checksum_of as checksum_of
from armarium_training.measuring import interval as interval
from armarium_training.measuring import main_policy as main_policy
from armarium_training.measuring import paired_bootstrap as paired_bootstrap
from armarium_training.measuring import paired_p_value as paired_p_value
from armarium_training.measuring import rated_in_common as rated_in_common
from armarium_training.measuring import uncounted_pages as uncounted_pages
from armarium_training.measuring_pages import end_evaluation as end_evaluation
from armarium_training.measuring_pages import measure_all as measure_all
from armarium_training.measuring_pages import measure_page as measure_page
from armarium_training.measuring_pages import measuring as measuring
from armarium_training.planning import Measurable as Measurable
from armarium_training.planning import is_new_to as is_new_to
from armarium_training.planning import kind_of as kind_of
from armarium_training.planning import measurable as measurable
from armarium_training.queries.evaluation import scores_on_cards as scores_on_cards
from armarium_training.queries.job_rows import EVALUATE as EVALUATE
from armarium_training.relatives import without_repeats as without_repeats
from armarium_training.schemas.evaluation import ALL_POLICIES as ALL_POLICIES
from armarium_training.schemas.evaluation import Candidate as Candidate
