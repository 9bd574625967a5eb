"""Toy: sums of two numbers, the smallest complete benchmark."""
