"""A reader for handwriting in Latin script: the engine's own small model, trained on openly licensed lines."""

WEIGHTS, CARD, SPELLING = "model.onnx", "card.json", "spelling.npz"
"""Files of this package: the model, what is known of it, and which letters follow which in what it was trained with."""
