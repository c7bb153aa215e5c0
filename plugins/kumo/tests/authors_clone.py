"""Lays a published domain out as the authors' repository does, from the reference data; its wording is made up."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from creval_kumo.domains.domain_text import domain_yaml
from creval_kumo.published.published_domains import read_domains

__all__ = ["AGENT_TEXT", "domain_file", "lay_out_domains"]

_BEGINNING = '''
    def get_book_prompt(self, truths):
        return f"""Write of {truths}."""

    def get_system_prompt(self, book=None, agent_type='VanillaAgent'):
        if agent_type == 'VanillaAgent' or agent_type == 'SFTAgent':
            system_prompt = \\
                f"""
Made up: one of these is so. {{curly}}

They are: {self.env.truth_space}

Do: {self.env.action_space}
"""
            if book is not None and agent_type != 'SFTAgent':
                system_prompt += f"\\n\\nA made-up guide:\\n\\n{book}"
            elif agent_type == 'SFTAgent':
                system_prompt += f"Rules: {self.get_reduced_ta_mapping()}"
            return system_prompt
'''
AGENT_TEXT = """class VanillaAgent(BaseAgent):
    def response(self, observation):
        1/0
        if observation is not None:
            self.messages.append({'role': 'user', 'content': f"You saw: {observation}"})
        said = f"Take one of: {self.A} or name one of: {self.T}. End with '<ANSWER> ${{name}} </ANSWER>'."
        if observation is None:
            self.messages.append({"role": "user", "content": "Go."})
            messages.append({"role": "user", "content": said})
        self.messages.append({'role': 'assistant', 'content': outputs['text']})
"""


def lay_out_domains(folder: Path, data: Path, domains: Sequence[str]) -> None:
    """Write the configurations and easy games of some domains; `data` is the folder of the KUMO reference data."""
    (folder / "env" / "data").mkdir(parents=True)
    (folder / "agents").mkdir()
    (folder / "agents" / "vanilla_agent.py").write_text(AGENT_TEXT)
    with gzip.open(data / "seed_configs.jsonl.gz", "rt") as lines:
        configs = {row["domain"]: row for row in map(json.loads, lines)}
    for domain in domains:
        _lay_out(folder / "env", configs[domain], data / "instances" / f"{domain}.easy.jsonl.gz")


def domain_file(folder: Path, data: Path, name: str) -> Path:
    """Write a published configuration as a domain file; `data` is the folder of the KUMO reference data."""
    file = folder / f"{name}.yaml"
    file.write_text(domain_yaml(read_domains(data / "seed_configs.jsonl.gz")[name].sound()), encoding="utf-8")
    return file


def _lay_out(env: Path, config: dict[str, Any], instances: Path) -> None:
    domain = config["domain"]
    stem = domain.removesuffix("Env").lower()
    names = ("Diseases", "Diagnosis") if domain == "MedicalEnv" else ("Truths", "Actions")
    head = f"from env.data.{stem}_data import *\n@registry.register_environment('{domain}')\n"
    (env / f"{stem}_env.py").write_text(f"{head}class {domain}(BaseEnv):\n    1/0\n{_BEGINNING}")
    entries = []
    for entry in config["outcomes"]:
        states = {_key(state["state"]): set(state["rules_out"]) for state in entry["states"]}
        entries.append(f"    {entry['action']!r}: {{'type': {entry['type']!r}, 'states': {states!r}}},\n")
    (env / "data" / f"{stem}_data.py").write_text(
        f"{names[0]} = {set(config['truths'])!r}\n{names[1]} = {config['actions']!r}\n"
        f"Outcomes = outcomes = {{\n{''.join(entries)}}}\n"
    )
    place = env / domain / "knowledge_book" / "truth_num=4+action_num=6+valid_truth_num=1"
    place.mkdir(parents=True)
    with gzip.open(instances, "rt") as lines, (place.parents[1] / f"{place.name}.jsonl").open("w") as file:
        for row in map(json.loads, lines):
            (place / f"seed={row['seed']}.txt").write_text(row.pop("knowledge_book"))
            file.write(json.dumps(row) + "\n")


def _key(state: Any) -> Any:
    return tuple(state) if isinstance(state, list) else json.dumps(state) if isinstance(state, dict) else state
