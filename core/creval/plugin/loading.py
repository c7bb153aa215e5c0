"""Finding installed plugins, without the engine: for creval-testing, which examines how a plugin is loaded.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.escape import json_text, visible
from creval.plugins.distributions import find_distributions, installed_version
from creval.plugins.loader import CORE, LOCAL, RESERVED, PluginInfo, Plugins, load_plugins
