"""An independent client and history checker, written from docs/protocol.md alone, and faults to run them under."""
