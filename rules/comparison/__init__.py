"""Two designs side by side: one comparison serves what-if, diff, remedies and replay."""
