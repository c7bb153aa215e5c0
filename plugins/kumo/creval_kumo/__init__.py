"""KUMO: generated reasoning games with provably optimal play (plugin `kumo`).

Import from the modules; nothing is imported here, so that `creval ls` stays fast. A package imports those below it:

cli              commands under `creval kumo`
analysis         what the paper computes from runs and domains; `analysis.commands` are the analyses as commands
augment          what a language model writes: domains, seed configurations, knowledge books
play             people playing: the screen of a game, earnings
published        published_domains: read_domains, read_instances, the authors' data with faulty parts refused by name
trajectories     optimal games as conversations, for fine-tuning
task             what task files name: protocol, answer (the name in the last <ANSWER> tag), scoring, players, datasets
books            book: the knowledge book by templates; book_check: what a book of any origin lacks
search           solver: OptimalSearch over the reference, plain Python and compiled engines; golden: OptimalPlayer
games            generation: Settings, generate (Algorithm 1); selection (Algorithm 2, SAT); instance: one game;
                 simulator: GameState, the pure state of a game; belief, reliability: results that are not certain
domains          domain_names, load_domain: the domains that ship; domain, domain_file, rules: what a domain is and must
                 keep, every fault by name with its line

`plugin` registers the components.
"""
