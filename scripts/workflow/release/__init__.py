"""A finished run as one archive, and its replay in another checkout. docs/release.md."""
