"""Rules that are found: one engine for what is about one table, and what all classes of found rules share.

Keys, functional and order dependencies are targets that hold in contexts. Such a class names its targets, strategies
and words (`engine.ContextEngine`). Another class takes what it can use:

    strategies.Strategy      how rules are found and kept: begin, follow, dump, load; which one, and why
    causes.Standing          how rules that came or went stand at the other moment: covered, implied, tested, above;
                             its `causes` says which of these comes first, for all classes
    causes.Causes            causes by text, put into words when they are read
    witnesses.Broken         rules that rows broke: which pair of rows breaks which of them
    witnesses.breaking_pairs two rows for each: pairs at hand on all rules, then the pair search, rule by rule
"""
