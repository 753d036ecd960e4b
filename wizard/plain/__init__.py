"""The interview line by line on standard input and output: for screen readers, pipes and slow lines."""
