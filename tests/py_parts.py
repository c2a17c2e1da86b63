#!/usr/bin/env python3
"""The scripts of examples/ that call the parts of a fit: lost workers, a fit that is gone on with, the
number of jobs; the bits of vem fit."""
import subprocess
import sys

from cli_case import *

ROWS, CUTS = 5000, (0, 1200, 1210, 3500, 5000)  # 4 shards of 1,024 rows or more


class Parts(Case):
    @classmethod
    def setUpClass(cls):
        rng = random.Random(3)
        cls.rows = [[4.0 * (i % 3) + rng.gauss(0, 1), 3.0 * (i % 2) + rng.gauss(0, 1)]
                    for i in range(ROWS)]

    def setUp(self):
        super().setUp()
        self.data = self.npy("x.npy", self.rows)
        self.names = [self.npy(f"part-{i + 1}.npy", self.rows[a:b])
                      for i, (a, b) in enumerate(zip(CUTS, CUTS[1:]))]
        self.vem("seed", self.data, "-k", 3, "-q", "-o", self.path("m.npz"), "--algorithm", "kmeans")
        # A worker that dies as often as $DIES says, at the commands that $DIES_AT names.
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
        return self.arrays(out)

    def arrays(self, name):
        """Not what it tells of files and seconds."""
        found = npz_parse(self.path(name))
        return [found[key][2] for key in ("means", "weights", "variances")]

    def whole(self, *words):
        self.json("fit", self.data, "--init", self.path("m.npz"), *words, "-o", self.path("whole.npz"))
        return self.arrays("whole.npz")

    def test_is_a_fit(self):
        self.assertEqual(self.fit("out.npz"), self.whole("--algorithm", "kmeans"))
        self.script("parts.sh", "m.npz", "d.npz", *self.names, "--", "--family", "diag", "--search", "all",
                    "--max-steps", "4", PARTS="2")
        self.assertEqual(self.arrays("d.npz"),
                         self.whole("--family", "diag", "--search", "all", "--max-steps", 4))

    def test_lost_workers_and_jobs(self):
        """The same bits whoever dies, and however many run at a time."""
        plain = self.whole("--algorithm", "kmeans")
        self.assertEqual(self.fit("b.npz", JOBS="4"), plain)
        self.assertEqual(self.fit("c.npz", DIES_AT="--part 3", DIES="2"), plain)
        self.assertEqual(self.read("deaths"), b"xx")

    def test_goes_on(self):
        """A part that never comes ends the rounds; later the same command goes on."""
        done = self.script("parts.sh", "m.npz", "out.npz", *self.names, "--", "--algorithm",
                           "kmeans", code=1, DIES_AT="--part 2", DIES="99", TRIES="2")
        self.assertIn("--part 2", done.stderr)
        self.assertFalse(os.path.exists(self.path("out.npz")))
        said = self.path("out.npz.rounds/step.parts/m0.1")
        kept = os.stat(said).st_mtime_ns
        self.vem("step", self.path("out.npz.rounds/step"), "--part", 1, code=10)
        self.assertEqual(os.stat(said).st_mtime_ns, kept)
        self.assertEqual(self.fit("out.npz"), self.whole("--algorithm", "kmeans"))
        self.script("parts.sh", "m.npz", code=2)

    def test_another_fit(self):
        """What an earlier command made is not taken for what another one asks."""
        self.vem("fit", self.data, "-k", 4, "--max-steps", 1, "-q", "-o", self.path("other.npz"))
        for script in ("parts.sh", "parts.py"):
            out = script + ".npz"
            self.script(script, "m.npz", out, *self.names, "--", "--algorithm", "kmeans")
            for words, says in ((["m.npz", out, *self.names[:3], "--", "--algorithm", "kmeans"], "another fit"),
                                (["m.npz", out, *self.names], "another fit"),
                                (["other.npz", out, *self.names, "--", "--algorithm", "kmeans"], "another start")):
                done = self.script(script, *words, code=1)
                self.assertIn(says, done.stderr)

    def test_start(self):
        """Without a start: one of coresets, by the shell and by Python, and whoever dies."""
        self.script("parts.sh", "s.npz", "a.npz", *self.names, code=2)
        options = ["--", "--algorithm", "kmeans"]
        self.script("parts.sh", "s.npz", "a.npz", *self.names, *options, K="6", CORESET="60",
                    DIES_AT="coreset", DIES="2")
        self.assertEqual(self.read("deaths"), b"xx")
        found = self.json("score", self.path("a.npz"), self.data)["free_energy"]
        self.assertGreater(found, self.json("score", self.path("s.npz"), self.data)["free_energy"])
        self.script("parts.py", "t.npz", "b.npz", *self.names, code=2)
        self.script("parts.py", "t.npz", "b.npz", *self.names, "-k", 6, "--coreset", 60, *options,
                    DIES_AT="part-3.npy -m", DIES="1")
        for ours, theirs in (("t.npz", "s.npz"), ("b.npz", "a.npz")):
            self.assertEqual(self.arrays(ours), self.arrays(theirs))

    def test_refused(self):
        """What vem refuses ends the script with its sentence."""
        for script, words in (("parts.sh", []), ("parts.py", ["-k", 3])):
            done = self.script(script, "m.npz", script + ".npz", *self.names, *words, "--", "--algorithm",
                               "greedy", code=1, K="3")
            self.assertIn("greedy", done.stderr)
            done = self.script(script, "m.npz", "no.npz", *self.names, *words, "--", "--time", "5", code=2)
            self.assertIn("--time", done.stderr)

    def test_python(self):
        """parts.py is parts.sh; a part that never comes ends it, and nothing is written."""
        words = ["m.npz", "b.npz", *self.names, "--", "--algorithm", "kmeans"]
        done = self.script("parts.py", *words, code=1, DIES_AT="--part 2", DIES="99")
        self.assertIn("lost again and again", done.stderr)
        self.assertFalse(os.path.exists(self.path("b.npz")))
        self.write("deaths", "")
        self.script("parts.py", *words, DIES_AT="--part 2", DIES="2")
        self.assertEqual(self.arrays("b.npz"), self.whole("--algorithm", "kmeans"))

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
        plain = self.whole("--algorithm", "kmeans")
        for script, says in (("parts_ray.py", "shutdown"), ("parts_spark.py", "stop")):
            done = self.script(script, "m.npz", script + ".npz", *self.names, "--", "--algorithm",
                               "kmeans", PYTHONPATH=self.folder.name)
            self.assertTrue(done.stdout.endswith(says + "\n"), done.stdout)
            self.assertEqual(self.arrays(script + ".npz"), plain)

    def test_slurm(self):
        """No Slurm here: what the tasks of an array would do, at the same time, and one that was lost."""
        self.vem("step", self.path("f.step"), "--parts", 3, "-q", "--", *self.names, "--init",
                 self.path("m.npz"), "--algorithm", "kmeans", "-o", self.path("o.npz"), "-q", code=10)

        def task(number, wait):
            return subprocess.Popen([os.path.join(SOURCE, "examples/parts.slurm"), self.path("f.step")],
                                    stderr=subprocess.DEVNULL,
                                    env={**os.environ, "VEM": os.path.abspath(VEM), "SLURM_ARRAY_TASK_ID": str(number),
                                         "WAIT": wait})
        for number in (1, 3):  # the second is lost, and these wait no longer
            self.assertEqual(task(number, "0").wait(LIMIT), 0)
        told = json.loads(self.vem("step", self.path("f.step"), "--json", code=10).stdout)
        self.assertEqual([part["state"] for part in told["parts"]], ["waits", "call", "waits"])
        for process in [task(number, "600") for number in (1, 2, 3)]:
            self.assertEqual(process.wait(LIMIT), 0)
        self.vem("step", self.path("f.step"))
        self.assertEqual(self.arrays("o.npz"), self.whole("--algorithm", "kmeans"))

    def test_dask(self):
        """Eight parts on four workers, one of which is killed in the middle: the same bits."""
        try:
            import distributed  # pylint: disable=unused-import,import-outside-toplevel
        except ImportError:
            self.skipTest("dask.distributed is not installed")
        self.data = self.npy("x.npy", self.rows * 2)
        self.vem("step", self.path("f.step"), "--parts", 8, "-q", "--", self.data, "--init", self.path("m.npz"),
                 "--algorithm", "kmeans", "--threads", 1, "-o", self.path("o.npz"), "-q", code=10)
        driver = self.write("driver.py", f"""
import os, sys
sys.path.insert(0, {os.path.join(SOURCE, "examples")!r})
import dask
import parts_dask

def once_deadly(task, words):
    if "5" in words and os.path.exists({self.path("f.step.parts/at.5")!r}):
        try:
            os.close(os.open({self.path("killed")!r}, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), 9)
        except FileExistsError:
            pass
    return task(words)

if __name__ == "__main__":
    dask.config.set({{"distributed.comm.timeouts.connect": "600s", "distributed.comm.timeouts.tcp": "600s"}})
    with parts_dask.distributed.Client(n_workers=4, threads_per_worker=1, dashboard_address=None) as client:
        run = parts_dask.run_on(client)
        sys.exit(parts_dask.parts.rounds(lambda task, calls: run(once_deadly, [(task, *call) for call in calls]),
                                         sys.argv[1]))
""")
        done = subprocess.run([sys.executable, driver, self.path("f.step")], cwd=self.folder.name,
                              capture_output=True, text=True, check=False, timeout=LIMIT,
                              env={**os.environ, "VEM": os.path.abspath(VEM)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(os.path.exists(self.path("killed")))
        self.assertEqual(self.arrays("o.npz"), self.whole("--algorithm", "kmeans"))


if __name__ == "__main__":
    main()
