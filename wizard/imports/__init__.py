"""Reads files of other programs."""
