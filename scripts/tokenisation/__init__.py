"""Tokenisers and what they do to a text."""
