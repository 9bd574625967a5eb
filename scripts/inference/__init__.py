"""Requests in, responses out: the registry, the response store, one module a backend."""
