#!/usr/bin/env python3
"""VNV06 Figs. 1-4: EM and greedy EM on the cells of a kd-tree, beside those on rows.

    repro/vnv06.py [--figures 1 2 3 4] [--trials 20] [--most 10000000] [--short] [--fresh]

Axes: rows n, clusters k, columns d, separation c (Dasgupta's, a distance of c sqrt(d) standard deviations).
Fig. 1 is about n = 10,000, k = 10, d = 2, c = 3 with 1,000 test rows, Fig. 2 about k = 5, c = 2 with 500, Fig. 4 has
n = 100,000, k = 3, c = 2. The ticks of the paper's axes are not in the text that we have; ours are chosen.

- **cells**: `--algorithm kd-em`, at most 8,192 cells and one for two rows
- **few cells**: the same with at most 32 for each cluster
- **as printed**: kd-em with the paper's first four cells and one more at a time (`--depth 2 --expand 1`)
- **incremental EM**: `--algorithm incremental-em`, an M-step after each of 25 blocks
- **very fast EM**: `--algorithm moore-em --tau 0.5 --depth 6`; beside it kd-em with 64 cells at most, as printed or
  with the first at depth 4
- **greedy on cells**: `--algorithm greedy --cells 1024`; **greedy as printed** with `--depth 2 --expand 1`

All but greedy begin with the clusters of k-means (from random rows; 100,000 of them at most), and all
end when a step changes F by less than 1e-5 of it. Operations are floating-point operations, counted as
repro/vnv06_fits.py says, without those of k-means and of the tree. Time is that of the processor, one thread, in
the loop; "+ tree" with the tree. Speedups are geometric means over the trials. Likelihoods are negative
log-likelihoods of a test row, so that less is better, and differences are paired, with standard errors.
Fits are kept in out/vnv06, so that an interrupted run can go on.
"""

import argparse
import os
import shutil
from typing import NamedTuple

import numpy as np

from vnv06_fits import (CELLS, EM, FEW_CELLS, GREEDY, GREEDY_CELLS_NAME, GREEDY_PRINTED, OUT,
                        INCREMENTAL, MOORE, OF_64, OF_64_PRINTED, PRINTED, ROOT, Setting,
                        Trials, common)
from vnv06_pictures import NODES, expanded, picture, picture_4

RESULTS = os.path.join(ROOT, "repro", "results")


class Axis(NamedTuple):
    """What varies, and all else."""

    name: str
    words: str
    base: Setting
    values: tuple
    short: int = 100000  # rows at most of which all trials are made


ONE, TWO, FOUR = Setting(10000, 10, 2, 3), Setting(10000, 5, 2, 2), Setting(100000, 3, 2, 2)
LOADS = []  # of the machine, at each fit
FIG1 = (Axis("n", "rows", ONE, (1000, 10000, 100000, 1000000, 10000000), 1000000),
        Axis("k", "clusters", ONE, (2, 5, 10, 20, 40)),
        Axis("d", "columns", ONE, (2, 4, 8, 16)),
        Axis("c", "separation", ONE, (1, 2, 3, 4)),
        Axis("d", "columns, c = 1", ONE._replace(c=1), (2, 4, 8, 16)))
FIG2 = (Axis("n", "rows", TWO, (1000, 10000, 100000, 1000000)),
        Axis("k", "clusters", TWO, (2, 5, 10, 20)),
        Axis("d", "columns", TWO, (2, 4, 8)),
        Axis("c", "separation", TWO, (1, 2, 3, 4)))
FIG3 = (Axis("n", "rows", ONE, (1000, 10000, 100000, 1000000)),)


def trials_of(axis, n, most):
    """As many as in the paper where a trial is short."""
    return min(most, 5) if n > axis.short else most


class Line:
    """The trials of one setting, of one slow method and some fast ones."""

    def __init__(self, runs, setting, trials, slow, fast):
        self.setting, self.trials, self.slow, self.fast = setting, trials, slow, fast
        self.found = [runs.of(setting, trial, [slow, *fast]) for trial in range(trials)]
        LOADS.extend(one[m].get("load", np.nan) for one in self.found for m in (slow, *fast))

    def values(self, method, key):
        return np.array([one[method][key] for one in self.found])

    def speedup(self, method, *keys):
        """Geometric mean; of the slow method only the first key counts."""
        return np.exp(self.log_speedups(method, *keys).mean())

    def log_speedups(self, method, *keys):
        spent = sum(self.values(method, key) for key in keys)
        return np.log(self.values(self.slow, keys[0]) / spent)

    def likelihoods(self, method):
        """Negative, of the test rows."""
        if method == "truth":
            return -np.array([one["truth"] for one in self.found])
        return -self.values(method, "test")

    def off(self, method, than):
        """How much worse, in percent, and the standard error of that."""
        worse = self.likelihoods(method) - self.likelihoods(than)
        worse *= 100 / abs(self.likelihoods(than).mean())
        return worse.mean(), worse.std() / np.sqrt(max(1, self.trials - 1))

    def at(self, axis):
        return getattr(self.setting, axis.name)


def walk(runs, axes, options, slow, fast):
    """[(axis, lines)] as far as rows are allowed. Fits of one trial are made one after the other, so
    that what else the machine does is the same for all."""
    found = []
    for axis in axes:
        settings = [axis.base._replace(**{axis.name: value}) for value in axis.values]
        found.append((axis, [Line(runs, s, trials_of(axis, s.n, options.trials), slow, fast)
                             for s in settings if s.n <= options.most]))
    return found


# ---- tables ----

def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def yes(truth):
    return "yes" if truth else "**no**"


def speed_table(report, axis, lines, fast):
    header = [axis.name, "trials", f"steps of {lines[0].slow}"]
    for method in fast:
        cells = lines[0].values(method, "cells").any()
        header += [f"{method}: cells", "steps"] if cells else [f"{method}: steps"]
        header += ["operations", "time", "+ tree"][:3 if cells else 2]
    rows = []
    for line in lines:
        row = [f"{line.at(axis):,}", line.trials, number(line.values(line.slow, "steps").mean())]
        for method in fast:
            cells = lines[0].values(method, "cells").any()
            row += [number(line.values(method, key).mean())
                    for key in (("cells", "steps") if cells else ("steps",))]
            row += [number(line.speedup(method, *keys)) for keys in
                    (("operations",), ("em",), ("em", "tree"))[:3 if cells else 2]]
        rows.append(row)
    report.table(header, rows)


def likelihood_table(report, axis, lines, fast, than):
    slow = lines[0].slow
    header = [axis.name, "truth", slow, *fast,
              *(f"{method} worse than {than}, %" for method in fast)]
    rows = []
    for line in lines:
        row = [f"{line.at(axis):,}"]
        row += [f"{line.likelihoods(m).mean():.4f}" for m in ("truth", slow, *fast)]
        row += ["{:+.3f} ± {:.3f}".format(*line.off(method, than)) for method in fast]
        rows.append(row)
    report.table(header, rows)


def tables(report, walked, fast, than):
    for axis, lines in walked:
        base = axis.base._asdict()
        base.pop(axis.name)
        report.say(f"### {axis.words[0].upper() + axis.words[1:]}", "",
                   "With " + ", ".join(f"{key} = {value:,}" for key, value in base.items()) +
                   f". Speedups over {lines[0].slow}:", "")
        speed_table(report, axis, lines, fast)
        report.say("Likelihoods:", "")
        likelihood_table(report, axis, lines, fast, than)


# ---- claims ----

def power(less, more, method, *keys):
    """The exponent of n between two lines over the trials that both have, and its error."""
    both = min(less.trials, more.trials)
    ratio = more.log_speedups(method, *keys)[:both] - less.log_speedups(method, *keys)[:both]
    ratio /= np.log(more.setting.n / less.setting.n)
    return ratio.mean(), ratio.std() / np.sqrt(max(1, both - 1))


def grows(lines, *keys):
    """At least linearly, as far as the error of the exponent over all of the axis tells."""
    def of(method):
        whole, error = power(lines[0], lines[-1], method, *keys)
        each = (f"{power(a, b, method, *keys)[0]:.2f}" for a, b in zip(lines, lines[1:]))
        return f"{yes(whole > 1 - 2 * error)}: n^{whole:.2f} ± {error:.2f} ({', '.join(each)})"
    return of


def goes(lines, way):
    """From the first to the last value of the axis; way: 1 up, -1 down."""
    def of(method):
        speeds = [line.speedup(method, "operations") for line in lines]
        return f"{yes(way * speeds[-1] > way * speeds[0])}: {', '.join(map(number, speeds))}"
    return of


def near(walked, than, most):
    """Nowhere worse by more than so many percent."""
    def of(method):
        off = [line.off(method, than)[0] for _, lines in walked for line in lines]
        return f"{yes(max(off) < most)}: {min(off):+.2f} to {max(off):+.2f} %"
    return of


def claims(report, fast, said):
    report.say("### Claims", "")
    report.table(["the paper", *fast], [[claim, *(of(method) for method in fast)]
                                        for claim, of in said])


def load():
    """One sentence: what else ran while the fits did."""
    mean = np.nanmean(LOADS)
    busy = "" if mean < 1.5 else " **The machine did other work meanwhile: times are rough.**"
    return f"Mean load of the machine during the fits {mean:.1f}, on {os.cpu_count()} cores.{busy}"


# ---- figures ----

def figure_1(report, options):
    fast = (CELLS, FEW_CELLS, PRINTED)
    walked = walk(Trials(1000, "fig1"), FIG1, options, EM, fast)
    rows, clusters, columns, apart, close = (lines for _, lines in walked)
    report.say("## Fig. 1: EM and EM on cells", "")
    claims(report, fast, [
        ("speedup in operations at least linear in n", grows(rows, "operations")),
        ("the same in time, tree apart", grows(rows, "em")),
        ("(with the tree)", grows(rows, "em", "tree")),
        ("falls with k", goes(clusters, -1)),
        ("falls with d", goes(columns, -1)),
        ("the same at c = 1", goes(close, -1)),
        ("rises with separation", goes(apart, 1)),
        ("test likelihood close to that of EM (1 %)", near(walked, EM, 1))])
    tables(report, walked, fast, EM)
    picture(os.path.join(options.folder, "vnv06_fig1.svg"), walked, fast)


def as_the_truth(walked):
    """Within 3 standard errors, and what fitting so many numbers costs on other rows."""
    def of(method):
        beyond, count, most = 0, 0, -np.inf
        for _, lines in walked:
            for line in lines:
                mean, error = line.off(method, "truth")
                s, count = line.setting, count + 1
                free = s.k * (1 + s.d * (s.d + 3) / 2) - 1
                scale = 100 / abs(line.likelihoods("truth").mean())
                beyond += mean > 3 * error + scale * free / (2 * s.n)
                most = max(most, mean)
        return f"{yes(not beyond)}: in {count - beyond} of {count} settings; at most {most:+.2f} %"
    return of


def figure_2(report, options):
    fast = (GREEDY_CELLS_NAME, GREEDY_PRINTED)
    walked = walk(Trials(500, "fig2"), FIG2, options, GREEDY, fast)
    least = {m: min(line.speedup(m, "operations") for _, lines in walked for line in lines)
             for m in fast}
    report.say("## Fig. 2: greedy EM and greedy EM on cells", "",
               "Greedy EM on rows draws its candidates from at most 2,048 rows of a cluster, so that "
               "it is faster itself than the paper's.", "")
    claims(report, fast, [
        ("always faster (operations)", lambda m: f"{yes(least[m] > 1)}: {least[m]:.3g} at least"),
        ("speedup in operations linear in n", grows(walked[0][1], "operations")),
        ("the same in time, tree apart", grows(walked[0][1], "em")),
        ("test likelihood that of greedy EM (1 %)", near(walked, GREEDY, 1)),
        ("... and of the generating mixture", as_the_truth(walked))])
    tables(report, walked, fast, "truth")
    picture(os.path.join(options.folder, "vnv06_fig2.svg"), walked, fast)


def figure_3(report, options):
    fast = (INCREMENTAL, FEW_CELLS)
    walked = walk(Trials(1000, "fig3"), FIG3, options, EM, fast)
    lines = walked[0][1]
    report.say("## Fig. 3: incremental EM and EM on cells", "")

    def most(key):
        def of(method):
            speeds = [line.speedup(method, key) for line in lines]
            return f"{min(speeds):.2f} to {number(max(speeds))}"
        return of
    claims(report, fast, [
        ("speedup in operations: modest (at most 2.3) against at least linear in n",
         most("operations")),
        ("the same in time", most("em")),
        ("grows in operations", grows(lines, "operations")),
        ("test likelihood close to that of EM (1 %)", near(walked, EM, 1))])
    tables(report, walked, fast, EM)
    picture(os.path.join(options.folder, "vnv06_fig3.svg"), walked, fast)


def figure_4(report, options):
    fast = (MOORE, OF_64_PRINTED, OF_64)
    line = Line(Trials(1000, "fig4"), FOUR._replace(n=min(FOUR.n, options.most)), options.trials, EM,
                fast)
    report.say("## Fig. 4: very fast EM and EM on cells", "",
               f"{line.setting.n:,} rows, {line.trials} trials, a tree of 64 leaves and {NODES} nodes; "
               "means over the trials.", "")
    rows = []
    for method in fast:
        along = [one[method]["along"] for one in line.found]
        looked = np.mean([sum(cells) for cells in along]) + \
            line.values(method, "judged").mean() / line.setting.k
        rows.append([method, f"{line.values(method, 'steps').mean():.1f}",
                     f"{np.mean([2 * cells[-1] - 1 for cells in along]) * 100 / NODES:.0f}",
                     f"{np.mean([expanded(one, method)[-1] for one in line.found]) * 100 / NODES:,.0f}",
                     f"{looked:,.0f}", f"{line.likelihoods(method).mean():.4f}",
                     "{:+.3f} ± {:.3f}".format(*line.off(method, EM))])
    report.table(["", "steps", "expanded at the end, % of the tree", "expansions in all, %",
                  "nodes scored or bounded in all", "likelihood", "worse than EM, %"], rows)
    many = np.mean([expanded(one, MOORE)[-1] for one in line.found])
    few = {m: np.mean([expanded(one, m)[-1] for one in line.found]) for m in fast[1:]}
    claims(report, fast[1:], [
        ("very fast EM expands considerably more nodes",
         lambda m: f"{yes(many > 2 * few[m])}: {many / few[m]:.1f} times as many"),
        ("no significant difference in likelihood (its likelihood is worse by ..., %)",
         lambda m: "{0}: {1:+.3f} ± {2:.3f}".format(
             yes(abs(line.off(MOORE, m)[0]) < 3 * line.off(MOORE, m)[1]), *line.off(MOORE, m)))])
    picture_4(os.path.join(options.folder, "vnv06_fig4.svg"), line)


FIGURES = {1: figure_1, 2: figure_2, 3: figure_3, 4: figure_4}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", nargs="+", type=int, choices=FIGURES, default=list(FIGURES))
    parser.add_argument("--trials", type=int, default=20,
                        help="20; where a trial takes long at most 5")
    parser.add_argument("--most", type=int, default=10000000, help="rows, at most")
    parser.add_argument("--short", action="store_true",
                        help="two trials, at most 10,000 rows; written to out/vnv06")
    parser.add_argument("--fresh", action="store_true", help="make every fit again")
    options = parser.parse_args()
    if options.short:
        options.trials, options.most = 2, 10000
    if options.fresh:
        shutil.rmtree(OUT, ignore_errors=True)
    options.folder = OUT if options.short else RESULTS
    os.makedirs(options.folder, exist_ok=True)
    report = common.Report("VNV06: EM on cells", options.folder)
    report.say(*__doc__.strip().splitlines()[4:], "")
    for figure in options.figures:
        FIGURES[figure](report, options)
    report.say(load())
    report.write("vnv06.md")


if __name__ == "__main__":
    main()
