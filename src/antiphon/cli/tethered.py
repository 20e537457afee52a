"""`python -m antiphon.cli.tethered serve …`: antiphon as a child that ends with its parent.

What `antiphon codex` starts when no gateway is running. It ends as by SIGTERM, so that streams and the embedded model are ended in order.
"""

import os
import signal
import sys

from antiphon.child import when_parent_ends
from antiphon.cli.main import main

if __name__ == "__main__":
    when_parent_ends(lambda: os.kill(os.getpid(), signal.SIGTERM))
    main(sys.argv[1:], prog_name="antiphon")
