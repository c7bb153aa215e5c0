"""KUMO: generated reasoning games with provably optimal play (plugin `kumo`).

Import from the modules: this one imports nothing, so that `creval ls` stays fast. A package imports those below it:

cli              commands under `creval kumo`
analysis         analyses of runs and domains from the paper; `analysis.commands`: the analyses as commands
augment          stages written by a language model: domains, seed configurations, knowledge books
play             human players: the screen of a game, earnings
published        published_domains: read_domains, read_instances: the authors' data; faulty parts refused by name
trajectories     optimal games as conversations, for fine-tuning
task             task components: protocol, answer (the name in the last <ANSWER> tag), scoring, players, datasets
books            book: knowledge books from templates; book_check: what is missing from a book of any origin
search           solver: OptimalSearch over the reference, plain Python and compiled engines; golden: OptimalPlayer
games            generation: Settings, generate (Algorithm 1); selection (Algorithm 2, SAT); instance: one game;
                 simulator: GameState, the pure state of a game; belief, reliability: results that are not certain
domains          domain_names, load_domain: the shipped domains; domain, domain_file, rules: the format of a domain and
                 its rules, with every fault reported by name and line

`plugin` registers the components.
"""
