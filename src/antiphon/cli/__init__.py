"""The command line: the only place that constructs parts and wires them."""
