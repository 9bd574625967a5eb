"""Dates: calendars, written forms in five languages, and reading them back."""
