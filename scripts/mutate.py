#!/usr/bin/env python3
"""Tests judged by planted faults: which small faults in src/ do the C tests miss?

    scripts/mutate.py COUNT [--seed N] [--jobs J] [--quick S] [--sanitize]
                      [--missed] [--only FILE:LINE] [--list]

Fault number i of a seed is drawn by (seed, i) alone: a file, an operator, a place where it
applies. Faults are drawn until COUNT of them built. Each is compiled from a copy, as the release
build compiles that file (but by -O1, which takes half the time and computes the same), and linked
before the library of the release build into one test after another: those that execute its line,
the most promising first, until one fails. A crash and a hang are failures too. Nothing in the
checkout is changed. Faults that docs/faults.md lists as changing nothing are counted by
themselves, and not tried.

Which test executes which line is measured by gcov: all files but the kernels are compiled once
more for that, and linked in the same way. Only tests whose programs changed are measured again.
All is kept in build-faults/. Outcomes are not tried again, but by --missed those that were missed,
and by --only those of one line; then only tests run that it did not pass as they are now. With
--quick a fault gets tests of S seconds of processor time, and tests that take far longer are not
measured; if the others miss it, it is open, and --missed goes on from there. With --sanitize the
file with the fault is compiled for the address sanitizer, which the tests run under as well (make
test): for reads and writes past an end, of which a release build may know nothing. --list prints
what is known. docs/faults.md tells what came of it.
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
BUILD, STATE = ROOT / "build", ROOT / "build-faults"
PAGE = ROOT / "docs/faults.md"
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
COVER_FLAGS = "-O1 --coverage -Wno-error".split()
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


def sources():
    """All but kernels, and src/comm/mpi.c, which is in no C test: Python tests run it."""
    found = set(ROOT.glob("src/*/*.c")) - set(ROOT.glob("src/kernels/*.c"))
    return sorted(found - {ROOT / "src/comm/mpi.c"})


def build(jobs):
    must(["cmake", "--preset", "release"], cwd=ROOT)
    must(["cmake", "--build", BUILD, "-j", str(jobs)])


def c_tests():
    """Name, program and environment of the C tests."""
    told = must(["ctest", "--show-only=json-v1", "-L", "^c$", "-R", "^test_"], cwd=BUILD)
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
    """Does a test pass, and what processor time did it take? Standard output is of no interest;
    skipped counts as passed."""
    child = subprocess.Popen(
        [program],
        cwd=BUILD / "tests",
        env={**os.environ, **setting},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limited(cpu, memory),
    )
    alarm = threading.Timer(WALL_LIMIT, child.kill)
    alarm.start()
    _, status, used = os.wait4(child.pid, 0)
    alarm.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode in (0, 77), used.ru_utime + used.ru_stime


class Covered:
    """All of `sources`, compiled so that they count the lines that are executed."""

    def __init__(self, release, jobs):
        self.release, self.folder = release, STATE / "cover"
        headers = max(path.stat().st_mtime for path in ROOT.glob("**/*.h"))
        with ThreadPoolExecutor(jobs) as pool:
            self.objects = list(pool.map(lambda path: self.object(path, headers), sources()))

    def object(self, source, headers):
        out = (self.folder / source.relative_to(ROOT)).with_suffix(".o")
        if not out.exists() or out.stat().st_mtime < max(headers, source.stat().st_mtime):
            out.parent.mkdir(parents=True, exist_ok=True)
            command = self.release.command(source, source, out)
            must([*command, *COVER_FLAGS], cwd=BUILD)
        return out

    def measure(self, name, most):
        """Runs a test: its processor time and the lines it executes. One that takes more than
        `most` seconds is ended: nothing is known of it but that."""
        with tempfile.TemporaryDirectory(dir=STATE) as folder:
            work = Path(folder)
            program = self.release.program(name, self.objects, work, ["--coverage"])
            strip = {"GCOV_PREFIX": folder, "GCOV_PREFIX_STRIP": str(len(self.folder.parts) - 1)}
            setting = {**self.release.tests[name][1], **strip}
            done, seconds = passes(program, setting, most)
            if not done and 0 < most <= seconds + 1:
                return {"seconds": seconds, "executed": {}, "known": {}, "ended": most}
            if not done:
                raise SystemExit(f"{name} fails without any fault.")
            counts = [path.relative_to(work) for path in work.glob("src/*/*.gcda")]
            for path in counts:
                notes = path.with_suffix(".gcno")
                (work / notes).symlink_to(self.folder / notes)
            told = must(["gcov", "--json-format", "--stdout", *counts], cwd=work) if counts else ""
        executed, known = {}, {}
        for one in told.splitlines():
            for file in json.loads(one)["files"]:
                path = os.path.relpath(BUILD / file["file"], ROOT)
                if path.endswith(".c"):
                    known[path] = sorted({x["line_number"] for x in file["lines"]})
                    executed[path] = sorted({x["line_number"] for x in file["lines"] if x["count"]})
        return {"seconds": seconds, "executed": executed, "known": known}


class Coverage:
    """Which tests execute a line, and what processor time each takes."""

    def __init__(self, release, jobs, quick):
        self.tests = {}
        self.folder = STATE / "coverage"
        self.folder.mkdir(parents=True, exist_ok=True)
        most = int(2 * quick) + 1 if quick < math.inf else 0  # 0: no limit
        unknown = [name for name in release.tests if not self.read(name, release, most)]
        if unknown:
            covered = Covered(release, jobs)
            with ThreadPoolExecutor(jobs) as pool:
                list(pool.map(lambda name: self.measure(name, covered, most), unknown))
        for name in unknown:
            self.read(name, release, most)

    def read(self, name, release, most):
        """What is known of a test; None where it changed since, or was ended too early."""
        kept = self.folder / f"{name}.json"
        if not kept.exists() or kept.stat().st_mtime < release.tests[name][0].stat().st_mtime:
            return None
        test = json.loads(kept.read_text())
        if "ended" in test and not 0 < most <= test["ended"]:
            return None
        self.tests[name] = {**test, "version": kept.stat().st_mtime}
        return self.tests[name]

    def measure(self, name, covered, most):
        print(f"measuring {name}", flush=True)
        (self.folder / f"{name}.json").write_text(json.dumps(covered.measure(name, most)))

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


# ---- Trying a fault -----------------------------------------------------------------------------


class Release:
    """How the release build compiles and links, with one object in place of another."""

    def __init__(self, sanitize):
        self.tests = c_tests()
        self.flags = SANITIZE_FLAGS if sanitize else []
        # The sanitizer takes address space without end for its notes.
        self.memory = resource.RLIM_INFINITY if sanitize else MEMORY_LIMIT
        told = json.loads((BUILD / "compile_commands.json").read_text())
        self.compile = {one["file"]: shlex.split(one["command"]) for one in told}

    def command(self, source, text, out):
        """Compiles `text` as the build compiles a source."""
        command = list(self.compile[str(source)])
        command[-1], command[command.index("-o") + 1] = str(text), str(out)
        return command

    def object(self, fault, work):
        """Compiles a fault; None where that fails."""
        text, out = work / Path(fault.path).name, work / "fault.o"
        text.write_text(fault.text)
        command = self.command(ROOT / fault.path, text, out)
        more = [*self.flags, "-Wno-error"] if self.flags else []  # it warns where it is wrong
        plain = "-Wno-maybe-uninitialized"  # of which -O1 knows less
        return out if run([*command, "-O1", plain, *more], cwd=BUILD).returncode == 0 else None

    def program(self, name, objects, work, flags):
        """A test with these objects: named before the archive they take the place of its own, but
        not that of functions which the test itself replaces (a clock, say)."""
        folder, out = BUILD / "tests", work / name
        command = shlex.split((folder / f"CMakeFiles/{name}.dir/link.txt").read_text())
        command[command.index("-o") + 1] = str(out)
        at = command.index("libvem_test_support.a")
        command[at:at] = [*map(str, objects), "-Wl,-z,muldefs"]
        must([*command, *flags], cwd=folder)
        return out


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
            if coverage.seconds(name) > quick:
                continue
            quick -= coverage.seconds(name)
            program = release.program(name, [part], work, release.flags)
            cpu = int(CPU_FACTOR * coverage.seconds(name) + CPU_MORE)
            done, _ = passes(program, release.tests[name][1], cpu, release.memory)
            if not done:
                return {"outcome": "caught", "by": name + (" sanitized" if release.flags else "")}
            passed[name] = coverage.version(name)
            program.unlink()
    if release.flags:
        return before
    left = set(tests) - set(passed)
    left = left or any("ended" in test for test in coverage.tests.values())
    return {"outcome": "open" if left else "missed", "passed": passed}


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
    files = [str(path.relative_to(ROOT)) for path in sources()]
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
        release = Release(asked.sanitize)
        coverage = Coverage(release, asked.jobs, asked.quick)
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
