"""The explorer: a page in which every item, prompt, reply, verdict and gold answer can be read."""
