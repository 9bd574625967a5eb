"""Items, prompts, parsing, scoring, analysis and layouts of SyntaxBench; nothing shared."""
