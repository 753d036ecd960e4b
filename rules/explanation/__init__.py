"""How a conclusion came about, step by step: the parts of `rules.explain`."""
