"""Parts of the core for commands of first-party distributions: values of options, and their completion.

Private to the distributions of this repository; these names may change with any version. It imports little, so that
`creval COMMAND --help` stays fast.
"""

from __future__ import annotations

from creval.cli.completion import runs as complete_runs
from creval.cli.completion import tasks as complete_tasks
from creval.cli.lazy_group import missing_distribution
from creval.cli.option_values import (
    FilePath,
    NewPath,
    RunPath,
    comma_list,
    consents_of,
    expand,
    paths,
    read_roles,
    runs_argument,
    settings,
    texts,
)
from creval.cli.shared_options import format_options, trust_option, trust_parameter
from creval.plugins.distributions import absent_distribution_of_analysis
from creval.plugins.isolation import aside
