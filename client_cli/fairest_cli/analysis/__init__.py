"""The lessons of a recorded race: what each move was worth, whether the deal could be won, and how hard it was."""
