"""The exhaustive plan search: every valid plan of a GPU count, timed and sized as arrays, ranked, and accounted for.

Formulas of single layers, collectives and stages are those of `rules.sizing.step` and `rules.sizing.memory`, called once for each
different argument; what combines them into a plan's time and memory is written here for whole columns of plans. A test holds both
forms together. NumPy is loaded with these modules only.
"""
