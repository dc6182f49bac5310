"""HTTP: the ASGI entry point, the building blocks of routes, requests and answers, and serving the engine."""
