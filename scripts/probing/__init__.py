"""Hidden states of dates, linear probes on them, and the geometry of their path."""
