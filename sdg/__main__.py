"""`python -m sdg` is the same as `sdg`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
