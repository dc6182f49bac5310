"""The workbench: the web application of the engine, a client of its published routes only."""
