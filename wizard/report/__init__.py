"""The report of a design: one list of blocks, written as Markdown or as a page that prints."""
