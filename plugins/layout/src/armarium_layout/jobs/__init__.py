"""What each job finds on one page, and the action that writes it. The engine iterates over the pages.

Arrays are processed here, before the project's writer is requested; the libraries for that are loaded when
needed, not when the engine starts.
"""
