"""`python -m tests.matrix`: the matrix as a program."""

import sys

from tests.matrix.report import main

if __name__ == "__main__":
    sys.exit(main())
