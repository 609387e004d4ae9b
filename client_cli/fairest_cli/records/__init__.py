"""Finished matches and receipts as files: kept, listed, and proved."""
