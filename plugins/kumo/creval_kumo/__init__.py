"""KUMO: generated reasoning games with provably optimal play (plugin `kumo`).

Import from the modules; nothing is imported here, so that `creval ls` stays fast.

Domains
    domain            Domain, Truth, Action, Outcome, Interval: the symbolic configuration
    domain_file       load_domain_file, domain_faults: YAML -> Domain, every fault by name with its line
    rules, faults     what a domain must keep; the names of the faults; DomainError
    check             python -m creval_kumo.domains.check FILE...
    domains           domain_names, load_domain: the domains that ship
    published         read_domains, read_instances: the authors' published data, faulty parts refused by name

Games
    generation        Settings, generate, counterfactual: fresh games from a seed (Algorithm 1)
    selection         select: which outcomes are observed (Algorithm 2, SAT)
    stream            Stream: random numbers that are the same everywhere
    instance          Instance, to_doc and from_doc: one game
    observing         how what an action shows is drawn
    reliability       how far results can be relied on; who refuses certain or uncertain ones
    belief            posterior, most_probable: what results are evidence of that are not certain
    book, book_check  the knowledge book by templates; what a book of any origin lacks
    simulator         Play: the pure state of a game
    answer            read_name: the name in the last <ANSWER> tag
    counting          the paper's count of actions and the honest one

Optimal play
    search            the engines: literal Algorithm 3, pruned Python, compiled kernel; OptimalSearch, Limits, Proof
    golden            OptimalPlayer, golden_of: the same by names

The other modules are the components that `plugin` registers.
"""
