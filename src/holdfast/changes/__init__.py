"""What changes: operations of a batch, equal rows among them, and the diff of two results."""
