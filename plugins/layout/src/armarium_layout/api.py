"""What other families may import of layout: detectors, the drivers that find regions with a trained model."""

from armarium_layout import detectors as _drivers
from armarium_layout.detectors import Detector as Detector
from armarium_layout.detectors import model_type as model_type

DETECTORS, DETECTOR_MODELS, detector_models = _drivers.GROUP, _drivers.STORE, _drivers.models_here
