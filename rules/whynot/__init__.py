"""Why not something else: what stood against it, by how much, and the smallest change that would admit it."""
