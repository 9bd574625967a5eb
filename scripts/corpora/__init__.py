"""Fetching and verifying raw data; readers of word lists and documents."""
