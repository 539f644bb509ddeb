"""The scene sources that come with sdg: one per file, named after it."""
