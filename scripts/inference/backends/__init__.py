"""One small module per inference backend, each with the interface of `scripts.inference.interface`."""
