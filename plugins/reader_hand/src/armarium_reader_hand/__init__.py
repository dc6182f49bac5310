"""A reader for handwriting in Latin script: the engine's own small model, trained on openly licensed lines."""

WEIGHTS, CARD = "model.onnx", "card.json"
"""Files of this package: the model, and what is known of it."""
