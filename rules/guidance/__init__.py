"""Judgement as declared rules, one module per stage."""
