"""Recipes: answers about the material, the plan of work they lead to, its runs, and the choice of readers by
measurement.
"""
