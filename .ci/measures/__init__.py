"""Measures of the source code: its imports, sizes, language, and use of other projects' private names."""
