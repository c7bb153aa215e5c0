"""Those who watch a run and show how far it is: on a terminal, in a notebook, in plain lines."""
