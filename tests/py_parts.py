#!/usr/bin/env python3
"""A fit driven from outside by the scripts of examples/: parts, a lost worker, a round that is
gone on with, the number of jobs."""
import subprocess
import sys

from cli_case import *


class Parts(Case):
    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        self.rows = rows = [[4.0 * (i % 3) + rng.gauss(0, 1), 3.0 * (i % 2) + rng.gauss(0, 1)]
                            for i in range(300)]
        self.data = self.npy("x.npy", rows)
        self.names = [self.npy(f"part-{i + 1}.npy", rows[a:b])
                      for i, (a, b) in enumerate(((0, 70), (70, 75), (75, 200), (200, 300)))]
        self.vem("fit", self.data, "-k", 3, "--max-steps", 1, "-q", "-o", self.path("m.npz"))
        # A worker that dies as often as $DIES says, at the parts that $DIES_AT names.
        self.worker = self.write("worker", f"""#!/bin/sh
case "$*" in
*"$DIES_AT"*)
    if [ -n "$DIES_AT" ] && [ "$(cat '{self.path("deaths")}' | wc -c)" -lt "$DIES" ]; then
        printf x >> '{self.path("deaths")}'
        kill -9 $$
    fi;;
esac
exec '{os.path.abspath(VEM)}' "$@"
""")
        os.chmod(self.worker, 0o755)
        self.write("deaths", "")

    def script(self, name, *words, code=0, **environment):
        done = subprocess.run([os.path.join(SOURCE, "examples", name), *map(str, words)],
                              cwd=self.folder.name, capture_output=True, text=True, check=False,
                              timeout=LIMIT, env={**os.environ, "VEM": self.worker, "DIES_AT": "",
                                                  "DIES": "0", **environment})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def fit(self, out, **environment):
        self.script("parts.sh", "m.npz", out, *self.names, "--", "--algorithm", "kmeans",
                    **environment)
        return self.read(out)

    def test_is_a_fit(self):
        self.json("fit", self.data, "--init", self.path("m.npz"), "--algorithm", "kmeans",
                  "-o", self.path("whole.npz"))
        self.fit("out.npz")
        whole, found = [self.json("score", self.path(name), self.data)["free_energy"]
                        for name in ("whole.npz", "out.npz")]
        self.assertAlmostEqual(found, whole, delta=1e-9)
        expected = npz_parse(self.path("whole.npz"))["means"][2]
        for a, b in zip(expected, npz_parse(self.path("out.npz"))["means"][2]):
            self.assertAlmostEqual(a, b, delta=1e-9)

    def test_lost_workers_and_jobs(self):
        """The same bits whoever dies, and however many run at a time."""
        plain = self.fit("a.npz")
        self.assertEqual(self.fit("b.npz", JOBS="4"), plain)
        self.assertEqual(self.fit("c.npz", DIES_AT="--part 3/4", DIES="2"), plain)
        self.assertEqual(self.read("deaths"), b"xx")

    def test_goes_on(self):
        """A part that never comes ends the rounds by its number; later the same command goes on."""
        done = self.script("parts.sh", "m.npz", "out.npz", *self.names, "--", "--algorithm",
                           "kmeans", code=1, DIES_AT="--part 2/4", DIES="99", TRIES="2")
        self.assertIn("part 2\n", done.stderr)
        self.assertFalse(os.path.exists(self.path("out.npz")))
        kept = os.stat(self.path("out.npz.rounds/1/s1.npz")).st_mtime_ns
        went_on = self.fit("out.npz")
        self.assertEqual(os.stat(self.path("out.npz.rounds/1/s1.npz")).st_mtime_ns, kept)
        self.assertEqual(went_on, self.fit("plain.npz"))
        self.script("parts.sh", "m.npz", code=2)

    def test_another_fit(self):
        """What an earlier command made is not taken for what another one asks."""
        self.fit("out.npz")
        self.vem("fit", self.data, "-k", 4, "--max-steps", 1, "-q", "-o", self.path("other.npz"))
        for script in ("parts.sh", "parts.py"):
            for words, says in ((["m.npz", "out.npz", *self.names[:3], "--", "--algorithm", "kmeans"], "other parts"),
                                (["m.npz", "out.npz", *self.names], "other parts or options"),
                                (["other.npz", "out.npz", *self.names, "--", "--algorithm", "kmeans"], "another start")):
                done = self.script(script, *words, code=1)
                self.assertIn(says, done.stderr)
            self.script(script, "m.npz", "out.npz", *self.names, "--", "--algorithm", "kmeans")

    def test_start(self):
        """Without a start: one of coresets, by the shell and by Python, and whoever dies."""
        whole = self.json("fit", self.data, "-k", 6)["free_energy"]
        self.script("parts.sh", "s.npz", "a.npz", *self.names, code=2)
        self.script("parts.sh", "s.npz", "a.npz", *self.names, K="6", CORESET="60",
                    DIES_AT="coreset", DIES="2")
        self.assertEqual(self.read("deaths"), b"xx")
        self.assertEqual(len(os.listdir(self.path("a.npz.rounds/start"))), 4)
        found = self.json("score", self.path("a.npz"), self.data)["free_energy"]
        self.assertGreater(found, whole - 0.05)
        self.assertGreater(found, self.json("score", self.path("s.npz"), self.data)["free_energy"])
        self.script("parts.py", "t.npz", "b.npz", *self.names, code=2)
        self.script("parts.py", "t.npz", "b.npz", *self.names, "-k", 6, "--coreset", 60,
                    DIES_AT="part-3.npy", DIES="1")
        for ours, theirs in (("t.npz", "s.npz"), ("b.npz", "a.npz")):
            found = [npz_parse(self.path(name)) for name in (ours, theirs)]
            for name in ("means", "weights"):  # meta tells of files, whose names are others
                self.assertEqual(*(arrays[name][2] for arrays in found))

    def test_options_and_rounds(self):
        """A start that is made has the options of the rounds; rounds that were too few are told."""
        for script, words, environment in (("parts.sh", [], {"K": "3", "ROUNDS": "2"}),
                                           ("parts.py", ["-k", 3, "--rounds", 2], {})):
            done = self.script(script, script + ".s.npz", script + ".npz", *self.names, *words, "--",
                               "--family", "diag", **environment)
            self.assertIn("F does not rest after 2 rounds", done.stderr)
            self.assertEqual(self.json("info", self.path(script + ".s.npz"))["family"], "diag")
        done = self.script("parts.py", "x.npy", "c.npz", *self.names, code=1)
        self.assertIn("x.npy", done.stderr)

    def test_python(self):
        """parts.py is parts.sh; a part that never comes ends it, and nothing is written."""
        words = ["m.npz", "b.npz", *self.names, "--", "--algorithm", "kmeans"]
        self.script("parts.py", *words, code=1, DIES_AT="--part 2/4", DIES="99")
        self.assertFalse(os.path.exists(self.path("b.npz")))
        self.write("deaths", "")
        self.script("parts.py", *words, DIES_AT="--part 2/4", DIES="2")
        self.assertEqual(self.read("b.npz"), self.fit("a.npz"))

    def test_ray_and_spark(self):
        """Neither is here: modules of their names that do what these scripts ask of them."""
        self.write("ray.py", """
def init(**where): print("init", sorted(where))
def shutdown(): print("shutdown")
def get(futures): return [future() for future in futures]
class Remote:
    def __init__(self, task): self.task = task
    def options(self, max_retries, retry_exceptions): return self
    def remote(self, *words): return lambda: self.task(*words)
remote = Remote
""")
        os.makedirs(self.path("pyspark"))
        self.write("pyspark/__init__.py", "")
        self.write("pyspark/sql.py", """
class Spread:
    def __init__(self, calls): self.calls = calls
    def map(self, task): return Spread([task(words) for words in self.calls])
    def collect(self): return self.calls
class SparkSession:
    def appName(self, name): return self
    def master(self, where): print("master", where); return self
    def getOrCreate(self): return self
    def parallelize(self, calls, count): assert len(calls) == count; return Spread(calls)
    def stop(self): print("stop")
    sparkContext = property(lambda self: self)
SparkSession.builder = SparkSession()
""")
        plain = self.fit("a.npz")
        for script, says in (("parts_ray.py", "shutdown"), ("parts_spark.py", "stop")):
            done = self.script(script, "m.npz", script + ".npz", *self.names, "--", "--algorithm",
                               "kmeans", PYTHONPATH=self.folder.name)
            self.assertTrue(done.stdout.endswith(says + "\n"), done.stdout)
            self.assertEqual(self.read(script + ".npz"), plain)

    def test_slurm(self):
        """No Slurm here: what a task of the array would do, one after the other."""
        for i in range(1, 5):
            self.script("parts.slurm", "m.npz", "part-%d.npy", "round1", SLURM_ARRAY_TASK_ID=str(i),
                        SLURM_ARRAY_TASK_COUNT="4", SLURM_CPUS_PER_TASK="2")
        files = [self.path(f"round1/s{i}.npz") for i in range(1, 5)]
        self.refuse(1, ["merge", *files[:2], files[3], "-o", self.path("n.npz")], "missing: 3")
        os.remove(files[2])  # asked for again, alone
        self.script("parts.slurm", "m.npz", "part-%d.npy", "round1", SLURM_ARRAY_TASK_ID="3",
                    SLURM_ARRAY_TASK_COUNT="1", PARTS="4")
        self.assertEqual(self.json("merge", *files, "-o", self.path("n.npz"))["rows"], 300)

    def test_dask(self):
        """Eight parts on four workers, one of which is killed in the middle: the same bits."""
        try:
            import distributed  # pylint: disable=unused-import,import-outside-toplevel
        except ImportError:
            self.skipTest("dask.distributed is not installed")
        self.names = [self.npy(f"eight-{i}.npy", self.rows[i * 37:i * 37 + (37 if i < 7 else 41)])
                      for i in range(8)]
        plain = self.fit("plain.npz")
        driver = self.write("driver.py", f"""
import os, sys
sys.path.insert(0, {os.path.join(SOURCE, "examples")!r})
import dask
import parts_dask

def once_deadly(task, vem, to, words):
    if to.endswith("s5.npz"):
        try:
            os.close(os.open({self.path("killed")!r}, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), 9)
        except FileExistsError:
            pass
    return task(vem, to, words)

if __name__ == "__main__":
    dask.config.set({{"distributed.comm.timeouts.connect": "600s", "distributed.comm.timeouts.tcp": "600s"}})
    with parts_dask.distributed.Client(n_workers=4, threads_per_worker=1, dashboard_address=None) as client:
        run = parts_dask.run_on(client)
        model = parts_dask.parts.rounds(lambda task, calls: run(once_deadly, [(task, *call) for call in calls]),
                                        sys.argv[1], sys.argv[3:], sys.argv[2], ["--algorithm", "kmeans"])
    print(model)
""")
        done = subprocess.run([sys.executable, driver, self.path("m.npz"), self.path("dask"),
                               *self.names], cwd=self.folder.name, capture_output=True, text=True,
                              check=False, timeout=LIMIT, env={**os.environ, "VEM": VEM})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(os.path.exists(self.path("killed")))
        with open(done.stdout.splitlines()[-1], "rb") as file:
            self.assertEqual(file.read(), plain)


if __name__ == "__main__":
    main()
