"""Write a domain as the YAML file that `domain_file` reads."""

from __future__ import annotations

from typing import Any

import yaml

from creval_kumo.domains.domain import Action, Domain, Interval, Noun

__all__ = ["domain_yaml"]


def domain_yaml(domain: Domain, comment: str = "") -> str:
    """Return a sound domain as YAML text, which reads back as an equal domain."""
    order = {truth.name: place for place, truth in enumerate(domain.truths)}
    data = {
        "domain": domain.name,
        "title": domain.title,
        "goal": domain.goal,
        "truth": _noun(domain.truth_noun),
        "action": _noun(domain.action_noun),
        "truths": [{"name": truth.name, "about": truth.about} for truth in domain.truths],
        "actions": [_action(action, order) for action in domain.actions],
    }
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    body: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return head + body


def _noun(noun: Noun) -> dict[str, str]:
    return {"singular": noun.singular, "plural": noun.plural}


def _action(action: Action, order: dict[str, int]) -> dict[str, Any]:
    outcomes = []
    for outcome in action.outcomes:
        state = outcome.state
        shown: dict[str, Any] = {"range": [state.lo, state.hi]} if isinstance(state, Interval) else {"label": state}
        ruled_out = sorted(outcome.rules_out, key=order.__getitem__)
        outcomes.append({**shown, "rules_out": ruled_out})
    unit = {"unit": action.unit} if action.type == "float" and action.unit else {}
    return {"name": action.name, "about": action.about, "type": action.type, **unit, "outcomes": outcomes}
