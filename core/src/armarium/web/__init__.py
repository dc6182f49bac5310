"""HTTP: the one ASGI entry, what routes, requests and answers are made of, and how the engine is served."""
