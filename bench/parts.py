#!/usr/bin/env python3
"""What it costs to make a fit in parts: processor time (user and system, of all processes) of `vem step` beside that
of `vem fit` with the same words, one thread each; rounds and calls.

    bench/parts.py [-n ROWS] [-d COLUMNS] [-k CLUSTERS]"""
import argparse
import os
import resource
import shlex
import subprocess
import tempfile

VEM = os.environ.get("VEM", "build/vem")


def spent(work):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def parts(state, count, wait, words):
    """Rounds, one command after the other or (wait) all at the same time."""
    subprocess.run([VEM, "step", state, "--parts", str(count), "-q", "--", *words], check=False,
                   stdout=subprocess.DEVNULL)
    rounds = calls = 0
    while True:
        told = subprocess.run([VEM, "step", state, "-q", "--wait", str(wait)], check=False, text=True,
                              stdout=subprocess.PIPE)
        if told.returncode != 10:
            return rounds, calls
        rounds += 1
        running = []
        for line in told.stdout.splitlines():
            calls += 1
            running.append(subprocess.Popen(shlex.split(line), stderr=subprocess.DEVNULL))
            if not wait:
                running.pop().wait()
        for process in running:
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for letter, value in (("-n", 200000), ("-d", 64), ("-k", 1000)):
        parser.add_argument(letter, type=int, default=value)
    asked = parser.parse_args()
    os.environ["OMP_WAIT_POLICY"] = "passive"
    with tempfile.TemporaryDirectory() as folder:
        data, start = folder + "/x.npy", folder + "/s.npz"
        subprocess.run([VEM, "generate", "separated", "-k", "20", "-d", str(asked.d), "-n", str(asked.n),
                        "-o", data, "-q"], check=True)
        subprocess.run([VEM, "seed", data, "-k", str(asked.k), "--algorithm", "kmeans", "--seeding", "random",
                        "-o", start, "-q"], check=True)
        words = [data, "--init", start, "--algorithm", "kmeans", "--max-steps", "10", "--tolerance", "0",
                 "--threads", "1", "-q", "-o", folder + "/m.npz"]
        whole = min(spent(lambda: subprocess.run([VEM, "fit", *words], check=True))[0] for _ in range(3))
        print(f"vem fit, 10 steps: {whole:.2f} s")
        for count, wait in ((2, 0), (4, 0), (8, 0), (4, 600), (8, 600)):
            seconds, (rounds, calls) = spent(lambda c=count, w=wait: parts(f"{folder}/{c}.{w}", c, w, words))
            print(f"{count} parts, {'together' if wait else 'one by one'}: {rounds} rounds, {calls} calls, "
                  f"{seconds:.2f} s, {seconds / whole:.2f} of vem fit")


if __name__ == "__main__":
    main()
