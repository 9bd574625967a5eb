"""The corpus of TIDE: its elements, what its documents are like, how well they were read."""
