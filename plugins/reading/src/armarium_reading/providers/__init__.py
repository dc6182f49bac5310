"""The model gateway: providers, their wire formats and keys, and the one way to ask a model (`asking.ask`)."""
