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

    def test_slurm(self):
        """No Slurm here: what a task of the array would do, one after the other."""
        for i in range(1, 5):
            self.script("parts.slurm", "m.npz", "part-%d.npy", "round1", SLURM_ARRAY_TASK_ID=str(i),
                        SLURM_ARRAY_TASK_COUNT="4", SLURM_CPUS_PER_TASK="2")
        files = [self.path(f"round1/s{i}.npz") for i in range(1, 5)]
        self.refuse(1, ["merge", *files[:2], files[3], "-o", self.path("n.npz")], "missing: 3")
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

def once_deadly(vem, part, number, *more):
    if number == 5:
        try:
            os.close(os.open({self.path("killed")!r}, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), 9)
        except FileExistsError:
            pass
    return parts_dask.accumulate(vem, part, number, *more)

if __name__ == "__main__":
    dask.config.set({{"distributed.comm.timeouts.connect": "600s", "distributed.comm.timeouts.tcp": "600s"}})
    with parts_dask.distributed.Client(n_workers=4, threads_per_worker=1, dashboard_address=None) as client:
        model = parts_dask.fit(client, sys.argv[1], sys.argv[3:], sys.argv[2], ["--algorithm", "kmeans"],
                               task=once_deadly)
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
