"""What other families may import of layout: detectors, the drivers that find regions with a trained model."""

from armarium_layout.detectors import GROUP as DETECTORS
from armarium_layout.detectors import STORE as DETECTOR_MODELS
from armarium_layout.detectors import Detector, detectors, model_type
from armarium_layout.detectors import models_here as detector_models

__all__ = ["DETECTORS", "DETECTOR_MODELS", "Detector", "detector_models", "detectors", "model_type"]
