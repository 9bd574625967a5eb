"""Code digests, configuration checks and explanations for the Snakefile; light imports only."""
