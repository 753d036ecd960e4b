"""The screens: start, interview, review, finished design, and the dialogs over them."""
