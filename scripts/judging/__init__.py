"""Judges of free answers: by rule, by a language model, and how far they agree."""
