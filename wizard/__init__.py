"""What a person touches: the interview, the files, the commands and the screens."""

__version__ = "0.1.0"
