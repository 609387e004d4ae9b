"""The commands of `fairest`: their options, and the lines that each of them prints."""
