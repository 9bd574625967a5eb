"""MultiTempBench: questions, items, prompts, scoring, analysis and layouts of the benchmark."""
