"""TIDE: which version of an amended document is in force; construction, prompts and scoring."""
