"""What is found on one page by each job, and the action that writes it. The engine goes through the pages.

Arrays are looked at here, before anybody asks for the project's writer; the libraries for that are loaded when they are
needed, not when the engine starts.
"""
