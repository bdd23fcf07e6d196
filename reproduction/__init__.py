"""Every figure of the paper with one command: seeds × settings → tidy CSV → picture → report."""
