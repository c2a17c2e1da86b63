#!/usr/bin/env python3
"""K of `vem select` as a function of each knob: does a small change of one make a large change of K?

    bench/smoothness.py [--sets NAME ...] [--output FILE]

Of the prior, times the default of each: strength (xi0), degrees of freedom (eta0 - D), scale (B0), count (phi0), 1/10 to 10.
Ten seeds, on a coreset of half of the rows, as bayes itself draws nothing. Twenty parts of 90 % of the rows (--stability).
"""

import argparse

import numpy as np

import common

SETS = ("sipu_s1", "sipu_s2", "sipu_s4", "sipu_a2", "sipu_d31", "sipu_unbalance")
FACTORS = (0.1, 0.2, 0.5, 1, 2, 5, 10)


def knobs(x):
    """The options for each knob and factor, about the defaults (docs/math/bayes.md)."""
    d, v = x.shape[1], x.var(0)

    def scale(factor, dof):
        return ["--prior-scale", ",".join(f"{b:.10g}" for b in factor * dof * 0.01 * v)]

    yield "strength", lambda f: ["--prior-strength", 0.01 * f, *scale(1, d + 1)]
    yield "freedom", lambda f: ["--prior-dof", d + f, *scale(1, d + f)]
    yield "scale", lambda f: scale(f, d + 1)
    yield "count", lambda f: ["--prior-count", f]


def clusters(path, *more):
    return common.vem("select", path, *more)["clusters"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--vem", metavar="PATH")
    parser.add_argument("--output", metavar="FILE")
    options = common.settle(parser)
    prior, other = [], []
    for name in options.sets:
        path = common.data(name)
        if not path:
            continue
        x = np.load(path).astype(np.float64)
        for knob, words in knobs(x):
            prior.append([name, knob, *(clusters(path, *words(f)) for f in FACTORS)])
            print(*prior[-1], flush=True)
        seeds = sorted(clusters(path, "--coreset", len(x) // 2, "--seed", s) for s in range(1, 11))
        parts = sorted(common.vem("select", path, "--stability", 20)["stability"]["clusters"])
        other.append([name, " ".join(map(str, seeds)), " ".join(map(str, parts))])
        print(*other[-1], flush=True)
    report = common.Report("K against the knobs of Bayesian k-means")
    report.say("The prior, times its default:", "")
    report.table(["data", "knob", *map(str, FACTORS)], prior)
    report.say("", "Ten seeds of a coreset of half of the rows, and twenty parts of 90 % of the rows:", "")
    report.table(["data", "seeds", "parts"], other)
    if options.output:
        report.write(options.output)


if __name__ == "__main__":
    main()
