"""The commands of `sdg`, one per file: `add` describes it to argparse, `command` runs it and returns the exit code."""
