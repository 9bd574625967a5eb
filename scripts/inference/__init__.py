"""Requests in, responses out: the registry of models, the response store, and one module a backend."""
