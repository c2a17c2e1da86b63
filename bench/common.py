"""What the benchmarks share: the command, the data, timing, tables, the machine."""

import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def arguments(parser, seeds=(1, 2, 3)):
    """Options that every command about whole fits has."""
    parser.add_argument("--vem", metavar="PATH", help="the command; default build/vem")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seeds", nargs="+", type=int, default=list(seeds))


def settle(parser):
    """The options given; from here on command() is the one that --vem names."""
    options = parser.parse_args()
    if options.vem:
        os.environ["VEM"] = os.path.abspath(options.vem)
    command()
    return options


def command():
    """The path of vem: $VEM, or the release build."""
    path = os.environ.get("VEM", os.path.join(ROOT, "build", "vem"))
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there. Build it with make, or name another one in VEM.")
    return path


def vem(*arguments, apart=False):
    """Runs the command with --json and gives back the object it prints.

    apart: started by a shell, because Linux lets a process inherit the peak memory of the one
    that started it, and this one has numpy in it.
    """
    line = [command(), *map(str, arguments), "--json", "-q"]
    start = ["sh", "-c", '"$@"; exit $?', "sh"] if apart else []
    done = subprocess.run(start + line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)}\n{done.stderr.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def data_folder():
    return os.environ.get("VEM_DATA", os.path.join(ROOT, "bench", "data"))


def data(name):
    """The path of a data set, or None and a sentence that says how to get it."""
    path = os.path.join(data_folder(), name + ".npy")
    if os.path.exists(path):
        return path
    print(f"{name}.npy is missing and left out; bench/data.py {name} prepares it.",
          file=sys.stderr)
    return None


def write_model(path, means, variances, weights=None):
    """A model file to start from; the shape of the variances tells the family."""
    clusters = len(means)
    if weights is None:
        weights = np.full(clusters, 1 / clusters)
    np.savez(path, means=np.asarray(means, float), weights=np.asarray(weights, float),
             variances=np.asarray(variances, float))


def threads_environment(threads):
    """The environment in which a program and its BLAS use so many threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return dict(os.environ, **{name: str(threads) for name in names})


def peer(threads, *arguments, script="peers.py"):
    """Runs bench/peers.py in a process of its own and gives back the object it prints."""
    line = [sys.executable, os.path.join(ROOT, "bench", script), *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=False,
                          env=threads_environment(threads))
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)}\n{done.stderr.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def peer_fit(threads, *arguments):
    """A whole fit by bench/peer_fits.py."""
    return peer(threads, *arguments, script="peer_fits.py")


def exact_error(path, folder, means, threads):
    """The quantisation error of anyone's means, by one exact evaluator in double precision."""
    model = os.path.join(folder, "judged.npz")
    write_model(model, np.load(means) if isinstance(means, str) else means, [1.0])
    return vem("score", model, path, "--precision", "double", "--threads",
               threads)["quantization_error"]


def scratch():
    """A folder for files that only one run needs."""
    return tempfile.TemporaryDirectory(prefix="vem-bench-")


class Iteration:
    """Times one EM iteration of the command, E-step and M-step.

    The seconds in the loop of 1 + `steps` E-steps less those of 1: what is paid once per fit
    (memory, first touch) cancels, as it does for the peers. The best of each is kept apart,
    because the best of their differences would profit from a slow short fit.
    """

    def __init__(self, *arguments, steps):
        self.arguments, self.steps = arguments, steps
        self.short = self.long = float("inf")
        self.last = None

    def run(self):
        first = vem("fit", *self.arguments, "--max-steps", 1)
        self.last = vem("fit", *self.arguments, "--max-steps", 1 + self.steps)
        self.short = min(self.short, first["seconds"]["em"])
        self.long = min(self.long, self.last["seconds"]["em"])

    def seconds(self):
        taken = self.last["steps"] - 1
        if taken < 1 or self.long <= self.short:
            sys.exit("An iteration cannot be timed: the fit ended at once, or the machine is "
                     "too busy. Try more --steps.")
        return (self.long - self.short) / taken


def machine():
    """One line: the processor, how many threads it runs, and the date."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    version = subprocess.run([command(), "--version"], capture_output=True, text=True,
                             check=True).stdout.split("\n")[0]
    date = datetime.date.today().isoformat()
    return f"{model}, {os.cpu_count()} threads; {version}; {date}"


def peak(table):
    """GFLOP/s of single-precision multiply-adds on one thread, measured now, or None.

    It comes from bench/kernels of the build that the command belongs to; `table` names the
    instruction set, as the command's "cpu" does.
    """
    program = os.path.join(os.path.dirname(command()), "bench", "kernels")
    if not os.access(program, os.X_OK):
        return None
    printed = subprocess.run([program, table, "8", "16"], capture_output=True, text=True,
                             check=False).stdout
    found = re.search(r"^\S+ single.*: peak ([0-9.]+) GFLOP/s", printed, re.MULTILINE)
    return float(found.group(1)) if found else None


def versions(*modules):
    return ", ".join(f"{m.__name__} {m.__version__}" for m in modules)


def show(value):
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return "" if value is None else str(value)


class Report:
    """Text that goes to the terminal at once and to a Markdown file at the end."""

    def __init__(self, title, folder=None):
        self.folder = folder or os.path.join(ROOT, "bench", "results")
        self.lines = []
        self.say(f"# {title}", "", machine(), "")

    def say(self, *lines):
        for line in lines or ("",):
            print(line, flush=True)
            self.lines.append(line)

    def table(self, header, rows):
        cells = [[show(value) for value in row] for row in [header, *rows]]
        widths = [max(len(row[j]) for row in cells) for j in range(len(header))]
        rule = ["-" * width for width in widths]
        for row in [cells[0], rule, *cells[1:]]:
            self.say("| " + " | ".join(v.ljust(w) for v, w in zip(row, widths)) + " |")
        self.say()

    def write(self, name):
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, name)
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines).rstrip() + "\n")
        os.replace(path + ".part", path)
