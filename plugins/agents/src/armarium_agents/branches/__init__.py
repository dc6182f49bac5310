"""Branches: copies of a project in which agents and colleagues propose, and of which a person takes what is good."""
