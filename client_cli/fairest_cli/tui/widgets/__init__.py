"""The widgets that screens are built from: lines of text, lists of choices, a timeline."""
