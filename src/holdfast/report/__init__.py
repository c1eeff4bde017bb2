"""Results as people like to look at them: tables in a terminal, pages in a browser, frames in a notebook."""
