"""Indexes that engines share: sorted blocks with summaries, key spaces of columns, pairs by row."""
