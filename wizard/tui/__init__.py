"""The wizard's screens, in Textual. Everything they show and decide lies below, in `wizard`, `rules` and `catalogs`."""
