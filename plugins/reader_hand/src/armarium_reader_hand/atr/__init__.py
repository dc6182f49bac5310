"""A reader for recognisers of lines that others publish: any CTC network as ONNX, with its alphabet."""

ALPHABET, CARD = "armarium.alphabet", "armarium.card"
"""Properties of the one file that a model becomes here: its letters, and how it wants its pictures."""
GRAPH_FILE, LETTERS_FILE, CARD_FILE = "inference.onnx", "dict.txt", "card.json"
"""The files of a model as it is published; the last one is optional."""
