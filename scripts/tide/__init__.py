"""TIDE: which version of an amended document is in force; items, prompts, construction and scoring."""
