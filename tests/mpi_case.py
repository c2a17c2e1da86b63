"""Commands of several processes (mpirun) beside those of one."""
import shutil
import tempfile

from cli_case import *

try:
    import numpy as np
except ImportError:
    np = None

MPI = os.environ.get("VEM_MPI", "")
MPIRUN = os.environ.get("VEM_MPIRUN") or shutil.which("mpirun") or ""
# As root and on fewer cores than processes, too; other launchers do not know these.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
SESSIONS = tempfile.TemporaryDirectory(prefix="vem-mpi-", ignore_cleanup_errors=True)
VOLATILE = {"seconds", "peak_bytes", "threads", "output", "files", "processes", "bytes_sent"}


def environment(**more):
    """Of one mpirun. Those of a user share a folder of Open MPI's, which one takes away while another makes it, so
    that this one fails: each has its own."""
    return {**ENVIRONMENT, "OMPI_MCA_orte_tmpdir_base": tempfile.mkdtemp(dir=SESSIONS.name), **more}


def rows(n, d, k, dtype, seed=1):
    rng = np.random.default_rng(seed)
    centers = 4 * rng.normal(size=(k, d))
    spread = 0.5 + rng.random((1, d))
    return (centers[rng.integers(k, size=n)] + rng.normal(size=(n, d)) * spread).astype(dtype)


class MpiCase(Case):
    def data(self, name, *shape, **more):
        np.save(self.path(name), rows(*shape, **more))
        return self.path(name)

    def start(self, processes, *words):
        return subprocess.Popen([MPIRUN, "-n", str(processes), MPI, *map(str, words)], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=environment())

    def run_many(self, processes, *words, code=0):
        with self.start(processes, *words) as process:
            out, err = process.communicate(timeout=LIMIT)
        if code is not None:
            self.assertEqual(process.returncode, code, f"{words}\n{out}\n{err}")
        return out, err

    def same(self, processes, *words, files=(), json_of=lambda told: told):
        """The files (by their ending) and the summary of one process and of several."""
        found = []
        for name, many in (("one", 0), ("many", processes)):
            named = []
            for option, ending in files:
                named += [option, self.path(name + ending)]
            all_words = [*words, *named, "--json", "-q", "--threads", 1]
            out = (self.run_many(many, *all_words)[0] if many
                   else self.vem(*all_words).stdout)
            told = {k: v for k, v in json.loads(out).items() if k not in VOLATILE}
            found.append(json_of(told))
        self.assertEqual(found[0], found[1], words)
        for _, ending in files:
            if ending.endswith(".npz"):
                one, many = (npz_parse(self.path(n + ending)) for n in ("one", "many"))
                one.pop("meta", None), many.pop("meta", None)
                self.assertEqual(one, many, (words, processes))
            else:
                self.assertEqual(self.read("one" + ending), self.read("many" + ending),
                                 (words, processes))
        return found[0]

    def sentence(self, err):
        """Who says it, the first one or another with its number, is a matter of time."""
        return err.split("\n")[0].removeprefix("vem: ")

    def fits(self, data, processes, *words, read=False):
        """read: the rows are not mapped, which is said where there are several processes."""
        files = (("-o", ".npz"), ("--labels", ".npy"))
        for p in processes:
            self.same(p, "fit", *(data if isinstance(data, list) else [data]), *words, files=files,
                      json_of=self.less_note if read else lambda told: told)

    def less_note(self, told):
        return {**told, "notes": [n for n in told["notes"] if "has read all rows" not in n
                                  and "where one process takes" not in n]}

    def weights(self, n, scale=1.0):
        """Some of them 0, the first one too."""
        rng = np.random.default_rng(9)
        w = rng.exponential(size=n) * (rng.random(n) > 0.2)
        w[0] = 0
        np.save(self.path("w.npy"), scale * w)
        return self.path("w.npy")

    def run_any(self, processes, *words, code=0):
        """One process without MPI, or several."""
        if processes:
            return self.run_many(processes, *words, code=code)
        done = self.vem(*words, code=code)
        return done.stdout, done.stderr

    def keeps(self, data, *words, steps=3, more=9, pairs=((0, 3), (3, 0), (2, 3), (3, 1))):
        """A fit that some leave and others go on with is the fit of one."""
        found = ("-o", self.path("m.npz"), "--labels", self.path("l.npy"))
        words = ("fit", data, *words, "--threads", 1, *found)
        self.vem(*words, "-q", "--max-steps", more)
        whole = npz_parse(self.path("m.npz")), self.read("l.npy")
        for before, after in pairs:
            state = self.path(f"state{before}{after}")
            kept = ("--checkpoint", state)
            self.run_any(before, *words, "-q", "--max-steps", steps, *kept)
            _, err = self.run_any(after, *words, "--max-steps", more, *kept, "--resume")
            self.assertEqual(err.count("resumed from"), 1, err)
            for one, other in zip(whole, (npz_parse(self.path("m.npz")), self.read("l.npy"))):
                if isinstance(one, dict):
                    one.pop("meta", None), other.pop("meta", None)
                self.assertEqual(one, other, (words, before, after))


def run_tests():
    if not np or not MPIRUN or not os.path.exists(MPI):
        print("Skipped: several processes need MPI (libopenmpi-dev, openmpi-bin) and numpy.")
        sys.exit(77)
    unittest.main()
