"""The screens and the dialogs over them, one in each module."""
