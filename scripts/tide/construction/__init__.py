"""From elements to question pairs: entities, clusters, threads, generation and its checks."""
