#!/usr/bin/env python3
"""Tests judged by planted faults: which small faults in src/ do the C tests miss?

    scripts/mutate.py COUNT [--seed N] [--jobs J] [--quick S] [--sanitize]
                      [--missed] [--only FILE:LINE] [--list]

Fault number i of a seed is drawn by (seed, i) alone: a file, an operator, a place where it
applies. Faults are drawn until COUNT of them built. Each is compiled from a copy, as the release
build compiles that file, and linked before the library of the release build into one test after
another: those that execute its line, the most promising first, until one fails. A crash and a hang
are failures too. Nothing in the checkout is changed. Faults that docs/faults.md lists as changing
nothing are counted by themselves, and not tried.

Which test executes which line is measured by a build of its own, build-cover (gcov). Both builds
are brought up to date first, and only tests that changed are measured again. Outcomes are kept
in build-faults/ and not tried again, but by --missed those that were missed, and by --only those
of one line; then only tests run that it did not pass as they are now. With --quick a fault gets
tests of S seconds of processor time; if they miss it, it is open, and --missed goes on from there.
With --sanitize the file with the fault is compiled for the address sanitizer, which the tests run
under as well (make test): for reads and writes past an end, of which a release build may know
nothing. --list prints what is known. docs/faults.md tells what came of it.
"""

import argparse
import bisect
import json
import math
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD, COVER, STATE = ROOT / "build", ROOT / "build-cover", ROOT / "build-faults"
PAGE = ROOT / "docs/faults.md"
FOLDERS = "em model search seed moves data api io metrics fit coarse".split()
OPERATORS = [
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " + "),
    (r"&&", "||"),
    (r"\|\|", "&&"),
    (r" == ", " != "),
    (r"\b0\.5\b", "0.25"),
    (r"\+\+;", "--;"),
    (r"return status;", "return VEM_OK;"),
    (r"fmax\(", "fmin("),
    (r" \? ", " ? !"),
]
SANITIZE_FLAGS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
COVER_FLAGS = "-O1 -DNDEBUG --coverage -fprofile-exclude-files=.*/kernels/.*"
CPU_FACTOR, CPU_MORE = 10, 10  # a test may take this much more processor time than measured
WALL_LIMIT = 1200  # seconds; ends what sleeps for ever, however slow the machine
MEMORY_LIMIT = 12 << 30  # of a test's address space: a fault may ask for anything
DRAWS = 20  # are made for each fault asked for, before giving up


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def must(command, **more):
    done = run(command, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


# ---- Faults -----------------------------------------------------------------------------------


def in_code(text, at):
    """Not in a comment and not in a line for the preprocessor."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    if before.lstrip().startswith(("*", "/", "#")) or "//" in before:
        return False
    return text.rfind("/*", 0, at) <= text.rfind("*/", 0, at)


def in_function(before):
    """Ends this text inside a function? Its brace stands alone at the beginning of a line; a
    constant or a macro outside concerns all of its file."""
    margin = [line for line in before.splitlines() if line[:1].strip()]
    return margin[-1:] == ["{"]


class Fault:
    """One place in one file, and what is written there instead."""

    def __init__(self, path, text, match, instead):
        self.path = path
        self.text = text[: match.start()] + instead + text[match.end() :]
        self.line = text.count("\n", 0, match.start()) + 1
        begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.start())
        self.inside = in_function(text[:begin])
        self.was = text[begin:end].strip()
        self.now = self.text[begin : end + len(instead) - len(match.group())].strip()

    @property
    def key(self):
        return f"{self.path}:{self.line}: {self.was} -> {self.now}"

    @property
    def name(self):
        """As docs/faults.md has it: lines move."""
        return f"{self.path}: {self.was} -> {self.now}"


def harmless():
    """The faults that docs/faults.md lists as changing nothing."""
    text = PAGE.read_text() if PAGE.exists() else ""
    _, _, text = text.partition("\n## Faults that change nothing\n")
    return set(re.findall(r"^- `(src/.*?)`", text.partition("\n## ")[0], re.MULTILINE))


def draw(seed, number, files):
    """Fault `number` of a seed, or None where the drawn operator has no place in the file."""
    chance = random.Random(f"{seed}/{number}")
    path = chance.choice(files)
    pattern, instead = chance.choice(OPERATORS)
    text = (ROOT / path).read_text()
    places = [m for m in re.finditer(pattern, text) if in_code(text, m.start())]
    return Fault(path, text, chance.choice(places), instead) if places else None


# ---- Builds and what they know ------------------------------------------------------------------


def build(jobs):
    must(["cmake", "--preset", "release"], cwd=ROOT)
    must(["cmake", "--build", BUILD, "-j", str(jobs)])
    must(
        ["cmake", "-S", ROOT, "-B", COVER, "-DCMAKE_BUILD_TYPE=Release", "-DVEM_WERROR=OFF"]
        + [f"-DCMAKE_C_FLAGS_RELEASE={COVER_FLAGS}"]
    )
    must(["cmake", "--build", COVER, "-j", str(jobs)])


def c_tests(folder):
    """Name, program and environment of the tests with label c of a build."""
    told = must(["ctest", "--show-only=json-v1", "-L", "^c$"], cwd=folder)
    tests = {}
    for test in json.loads(told)["tests"]:
        properties = {p["name"]: p["value"] for p in test["properties"]}
        setting = dict(one.split("=", 1) for one in properties.get("ENVIRONMENT", []))
        tests[test["name"]] = (Path(test["command"][0]), setting)
    return tests


def limited(cpu, memory):
    """What a test's process does first. A core dump of a fault is of no use."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        if cpu:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))

    return limit


def passes(program, setting, cpu, memory=MEMORY_LIMIT):
    """Does a test pass? Standard output is of no interest; skipped counts as passed."""
    try:
        done = subprocess.run(
            [program],
            cwd=BUILD / "tests",
            env={**os.environ, **setting},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=WALL_LIMIT,
            preexec_fn=limited(cpu, memory),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, 77)


def measure(name, program, setting):
    """Runs a test of the build for coverage: its processor time and the lines it executes."""
    objects = COVER / "CMakeFiles/vem_objects.dir"
    with tempfile.TemporaryDirectory(dir=STATE) as work:
        strip = {"GCOV_PREFIX": work, "GCOV_PREFIX_STRIP": str(len(objects.parts) - 1)}
        begin = os.times()
        if not passes(program, {**setting, **strip}, 0):
            sys.exit(f"{name} fails without any fault.")
        end = os.times()
        counts = [p.relative_to(work) for p in Path(work).glob("src/*/*.gcda")]
        counts = [p for p in counts if p.parts[1] in FOLDERS]
        for path in counts:
            notes = path.with_suffix(".gcno")
            (Path(work) / notes).symlink_to(objects / notes)
        told = must(["gcov", "--json-format", "--stdout", *counts], cwd=work) if counts else ""
    executed, known = {}, {}
    for one in told.splitlines():
        for file in json.loads(one)["files"]:
            path = os.path.relpath(COVER / file["file"], ROOT)
            if path.endswith(".c"):
                known[path] = sorted({x["line_number"] for x in file["lines"]})
                executed[path] = sorted({x["line_number"] for x in file["lines"] if x["count"]})
    seconds = end.children_user + end.children_system
    seconds -= begin.children_user + begin.children_system
    return {"seconds": seconds, "executed": executed, "known": known}


class Coverage:
    """Which tests execute a line, and what processor time each takes."""

    def __init__(self):
        self.tests = {}
        folder = STATE / "coverage"
        folder.mkdir(parents=True, exist_ok=True)
        for name, (program, setting) in c_tests(COVER).items():
            kept = folder / f"{name}.json"
            if not kept.exists() or kept.stat().st_mtime < newest(program):
                print(f"measuring {name}", flush=True)
                kept.write_text(json.dumps(measure(name, program, setting)))
            self.tests[name] = json.loads(kept.read_text())
            self.tests[name]["version"] = kept.stat().st_mtime

    def seconds(self, name):
        return self.tests[name]["seconds"]

    def version(self, name):
        return self.tests.get(name, {}).get("version")

    def of(self, fault):
        """The tests that execute the line of a fault. Only the first line of a statement may be
        counted, so one without a count takes those of the counted lines around it, and one
        outside any function those of the whole file. First come tests that are quick, and that
        are about this file: much of what they execute is in it."""
        found = set()
        for name, test in self.tests.items():
            near = known = test["known"].get(fault.path, [])
            at = bisect.bisect_left(known, fault.line)
            if fault.inside:
                near = known[at : at + 1]
                if near != [fault.line]:
                    near += known[max(at - 1, 0) : at]
            if set(near) & set(test["executed"].get(fault.path, [])):
                found.add(name)

        def price(name):
            executed = self.tests[name]["executed"]
            return self.seconds(name) * sum(map(len, executed.values())) / len(executed[fault.path])

        return sorted(found, key=price)


def newest(program):
    """A program is as new as the library it loads."""
    shared = max(p.stat().st_mtime for p in COVER.glob("libvem.so.*"))
    return max(program.stat().st_mtime, shared if program.name.startswith("example_") else 0)


# ---- Trying a fault -----------------------------------------------------------------------------


class Release:
    """How the release build compiles and links, with one object in place of another."""

    def __init__(self, sanitize):
        self.tests = c_tests(BUILD)
        self.flags = SANITIZE_FLAGS if sanitize else []
        # The sanitizer takes address space without end for its notes.
        self.memory = resource.RLIM_INFINITY if sanitize else MEMORY_LIMIT
        told = json.loads((BUILD / "compile_commands.json").read_text())
        self.compile = {one["file"]: shlex.split(one["command"]) for one in told}

    def object(self, fault, work):
        """Compiles a fault; None where that fails."""
        source, out = work / Path(fault.path).name, work / "fault.o"
        source.write_text(fault.text)
        command = list(self.compile[str(ROOT / fault.path)])
        command[-1], command[command.index("-o") + 1] = str(source), str(out)
        plain = [*command, "-Wno-error"] if self.flags else command  # it warns where it is wrong
        return out if run([*plain, *self.flags], cwd=BUILD).returncode == 0 else None

    def link(self, target, folder, out, change):
        command = shlex.split((folder / f"CMakeFiles/{target}.dir/link.txt").read_text())
        command[command.index("-o") + 1] = str(out)
        must([*change(command), *self.flags], cwd=folder)

    def program(self, name, fault, part, work):
        """The test with the fault's object, and what it needs in its environment. An object
        named before the archive takes the place of the archive's own."""
        program, setting = self.tests[name]
        if name.startswith("example_"):
            shared = work / "libvem.so"
            own = f"CMakeFiles/vem_objects.dir/{fault.path}.o"
            swapped = lambda command: [str(part) if x == own else x for x in command]
            self.link("vem", BUILD, shared, swapped)
            return program, {**setting, "LD_PRELOAD": str(shared)}
        out = work / name
        self.link(name, BUILD / "tests", out, lambda command: [command[0], str(part), *command[1:]])
        return out, setting


def attempt(fault, before, quick, release, coverage):
    """What became of a fault: broken (does not build), caught by a test, missed, or open (missed so
    far). `before` is what became of it earlier, with the tests it passed; it stands where the
    sanitizer finds nothing."""
    passed = {} if release.flags else before.get("passed", {})
    tests = coverage.of(fault)
    passed = {name: at for name, at in passed.items() if at == coverage.version(name)}
    with tempfile.TemporaryDirectory(dir=STATE) as folder:
        work = Path(folder)
        part = release.object(fault, work)
        if part is None:
            return {"outcome": "broken"}
        for name in tests:
            if name in passed:
                continue
            quick -= coverage.seconds(name)
            if quick < 0:
                break
            program, setting = release.program(name, fault, part, work)
            cpu = int(CPU_FACTOR * coverage.seconds(name) + CPU_MORE)
            if not passes(program, setting, cpu, release.memory):
                return {"outcome": "caught", "by": name + (" sanitized" if release.flags else "")}
            passed[name] = coverage.version(name)
            if program.parent == work:
                program.unlink()
    if release.flags:
        return before
    return {"outcome": "open" if set(tests) - set(passed) else "missed", "passed": passed}


# ---- The campaign -------------------------------------------------------------------------------


class Outcomes:
    """What is known of the faults of a seed, in a file that is written after each."""

    def __init__(self, seed):
        self.path = STATE / f"seed-{seed}.json"
        self.known = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.harmless = harmless()
        self.lock = threading.Lock()

    def put(self, fault, outcome):
        with self.lock:
            self.known[fault.key] = outcome
            text = json.dumps(self.known, indent=1)
            self.path.with_suffix(".new").write_text(text)
            os.replace(self.path.with_suffix(".new"), self.path)
            word = outcome["outcome"]
            passed = f"passed {len(outcome.get('passed', []))}"
            print(f"{word:7} {fault.key} [{outcome.get('by', passed)}]", flush=True)

    def all_of(self, fault):
        return self.known.get(fault.key, {})

    def of(self, fault):
        known = self.all_of(fault).get("outcome")
        return "equal" if fault.name in self.harmless and known != "caught" else known

    def count(self, faults):
        words = [self.of(fault) for fault in faults]
        return {word: words.count(word) for word in ("caught", "missed", "open", "equal", "broken")}


def drawn(count, seed):
    """Different faults of a seed, in their order."""
    files = sorted(
        str(path.relative_to(ROOT)) for name in FOLDERS for path in ROOT.glob(f"src/{name}/*.c")
    )
    seen = {}
    for number in range(DRAWS * count):
        fault = draw(seed, number, files)
        if fault:
            seen.setdefault(fault.key, fault)
    return list(seen.values())


def campaign(faults, count, outcomes, again, jobs, trial):
    """Tries faults in their order until `count` have built; `again` says which to try anew."""
    lock = threading.Lock()
    queue = iter(faults)
    built, tried = 0, []

    def work():
        nonlocal built
        while True:
            with lock:
                if built >= count:
                    return
                fault = next(queue, None)
                if fault is None:
                    return
                tried.append(fault)
                built += 1  # unless it turns out not to
            if outcomes.of(fault) is None or again(fault):
                outcomes.put(fault, trial(fault, outcomes.all_of(fault)))
            if outcomes.of(fault) == "broken":
                with lock:
                    built -= 1

    with ThreadPoolExecutor(jobs) as pool:
        for one in [pool.submit(work) for _ in range(jobs)]:
            one.result()
    return tried


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("count", type=int, help="faults that build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="faults tried beside each other")
    parser.add_argument("--quick", type=float, default=math.inf, help="seconds for a fault")
    parser.add_argument("--sanitize", action="store_true", help="under the address sanitizer")
    parser.add_argument("--missed", action="store_true", help="try again what was missed")
    parser.add_argument("--only", metavar="FILE:LINE", help="try again those of this line")
    parser.add_argument("--list", action="store_true", help="print what is known, try nothing")
    asked = parser.parse_args()
    if not shutil.which("gcov"):
        sys.exit("gcov is needed, which comes with gcc.")

    STATE.mkdir(exist_ok=True)
    outcomes = Outcomes(asked.seed)
    faults = drawn(asked.count, asked.seed)
    if asked.only:
        faults = [f for f in faults if f.key.startswith(f"{asked.only}:") and outcomes.of(f)]
    if asked.list:
        faults = [f for f in faults if outcomes.of(f)]
        for fault in faults:
            print(f"{outcomes.of(fault):7} {fault.key}")
    else:
        begin = time.monotonic()
        build(asked.jobs)
        release, coverage = Release(asked.sanitize), Coverage()
        trial = lambda fault, before: attempt(fault, before, asked.quick, release, coverage)
        again = lambda f: asked.only or (asked.missed and outcomes.of(f) in ("missed", "open"))
        faults = campaign(faults, asked.count, outcomes, again, asked.jobs, trial)
        print(f"{time.monotonic() - begin:.0f} s")
    total = outcomes.count(faults)
    print(f"seed {asked.seed}: {total['caught']} caught, {total['missed']} missed, ", end="")
    print(f"{total['open']} open; {total['equal']} change nothing, {total['broken']} do not build")
    return 1 if total["missed"] + total["open"] else 0


if __name__ == "__main__":
    sys.exit(main())
