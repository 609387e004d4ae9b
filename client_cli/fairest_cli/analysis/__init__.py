"""What a recorded race teaches: what each move was worth, whether the deal could be won, and how hard it was."""
