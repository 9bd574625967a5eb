"""Embedding texts, keeping the vectors in Chroma, and ranking them exactly; knows no benchmark."""
