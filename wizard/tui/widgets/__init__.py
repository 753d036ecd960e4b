"""The parts of the screens, one widget per file."""
