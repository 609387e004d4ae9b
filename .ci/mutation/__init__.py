"""Mutation testing: change the code in one place, and see whether a test fails."""
