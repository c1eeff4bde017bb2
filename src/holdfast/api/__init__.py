"""What users hold: discover and check once, or create and open a monitor that keeps rules true under batches."""
