"""What is typed behind `fairest`: commands, their options, and what each of them prints."""
