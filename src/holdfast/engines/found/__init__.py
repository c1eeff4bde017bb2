"""Rules of one table that are found: what all classes of them share, and the engine of those that hold in contexts.

Keys, functional and order dependencies are targets that hold in contexts. Such a class names its targets, strategies
and words (`contexts.ContextEngine`). Pointwise rules bring candidates and proofs of their own. All share

    engine.FoundEngine     the frame: a strategy, a step from moment to moment, what is said of it, the dump
    strategies.Strategy    how rules are found and kept: begin, follow, dump, load; which one, and why
    rules.ListedRules      rules by text, made from arrays when they are read
    causes.Standing        how rules that came or went stand at the other moment: covered, implied, tested, above;
                           its `causes` says which of these comes first
    witnesses.Broken       rules that rows broke, and two rows for each: pairs at hand on all rules, then a search, rule
                           by rule
"""
