#!/usr/bin/env python3
"""Long fits: the command is killed at any moment and goes on to the same model."""
import resource
import signal

from cli_case import *

ENV = dict(os.environ, VEM_CHECKPOINT_SECONDS="0")


MARK, HEADING, ENDING = 32, 40, 16


def blocks_of(state):
    """Names and bytes of the blocks of a state (src/base/record.c)."""
    at, blocks = MARK, []
    while at < len(state) - ENDING:
        count, size = struct.unpack("<QQ", state[at + 24:at + HEADING])
        end = at + HEADING + (count * size + 7) // 8 * 8
        blocks.append((state[at:at + 24].rstrip(b"\0").decode(), state[at:end]))
        at = end
    return blocks


def state_of(mark, blocks):
    """With the size and the sum that they should have."""
    raw, total = b"".join(block for _, block in blocks), 0
    for word, in struct.iter_unpack("<Q", raw):
        total = (total ^ word) * 0x9e3779b97f4a7c15 & 2 ** 64 - 1
        total = (total << 29 | total >> 35) & 2 ** 64 - 1
    return mark + raw + struct.pack("<QQ", len(raw), total)


class Checkpoint(Case):
    def model(self, name):
        """Arrays of a model and what its meta says, apart from seconds."""
        arrays = npz_parse(self.path(name))
        meta = json.loads(bytes(arrays.pop("meta")[2]))
        for step in meta.get("trace", []):
            step.pop("seconds", None)
        return arrays, meta

    def data(self, n=6000, clusters=40):
        rng = random.Random(5)
        rows = [[rng.gauss(i % clusters, 0.6), rng.gauss(i * 7 % clusters, 0.6), rng.gauss(0, 1)]
                for i in range(n)]
        return self.npy("x.npy", rows)

    def test_killed_again_and_again(self):
        data = self.data()
        words = ["fit", data, "-k", 40, "--swaps", 3, "--held", 2, "--tolerance", 0, "--max-steps", 60,
                 "--threads", 2, "-q"]
        self.vem(*words, "-o", self.path("whole.npz"), "--labels", self.path("whole.npy"),
                 "--checkpoint", self.path("other"), env=ENV)
        command = [VEM, *map(str, words), "-o", self.path("m.npz"), "--labels", self.path("m.npy"),
                   "--checkpoint", self.path("state"), "--resume"]
        rng = random.Random(7)
        killed = 0
        for attempt in range(400):
            # By the number of looks at the clock, of which every step has several.
            last = 30 if attempt == 0 else rng.randint(30, 300) * (1 + attempt // 10)
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       env=self.ticking(1e-4, VEM_FAKE_KILL=str(last),
                                                        VEM_CHECKPOINT_SECONDS="0"))
            err = process.communicate()[1].decode()
            self.assertIn(process.returncode, (0, -signal.SIGKILL), err)
            if process.returncode == 0:
                break
            killed += 1
        self.assertEqual(process.returncode, 0)
        self.assertGreater(killed, 0)
        self.assertEqual(self.model("m.npz"), self.model("whole.npz"))
        self.assertEqual(self.read("m.npy"), self.read("whole.npy"))

    def test_interrupt_then_resume(self):
        data = self.data(20000, 60)
        words = ["fit", data, "-k", 60, "--tolerance", 0, "--max-steps", 400, "--seeding", "random"]
        self.vem(*words, "-q", "-o", self.path("whole.npz"))
        state = self.path("state")
        more = ["-o", self.path("m.npz"), "--checkpoint", state, "--resume"]
        process = subprocess.Popen([VEM, *map(str, words), *more], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=ENV)
        while not os.path.exists(state) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        err = process.communicate()[1].decode()
        self.assertIn(process.returncode, (0, 130), err)
        self.assertIn("is not there yet: the fit starts from the beginning.", err)
        done = self.vem(*words, *more)
        self.assertIn(f"vem: resumed from {state} at step ", done.stderr)
        self.assertEqual(self.model("m.npz"), self.model("whole.npz"))

    def test_full_disk(self):
        data = self.data(2000, 10)
        words = ["fit", data, "-k", 10, "--tolerance", 0, "--max-steps", 8, "-q",
                 "--checkpoint", self.path("state")]
        self.vem(*words, env=ENV)
        before = self.read("state")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
        done = self.vem(*words, env=ENV, preexec_fn=limit)
        self.assertIn("could not be written: the file would be too large. The fit goes on without a "
                      "new checkpoint.", done.stderr)
        self.assertEqual(self.read("state"), before)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["state", "x.npy"])

    def test_the_best_restart_on_cells(self):
        """It has labels of cells, which may be fewer or more than the first ones, and nobody needs them; how many
        cells there were is told."""
        data, earlier = self.data(1500, 9), 0
        for algorithm in (["moore-em"], ["kd-em", "--cells", 600]):
            for seed in range(4):
                words = ["fit", data, "-k", 5, "--algorithm", *algorithm, "--restarts", 2, "--seed", seed,
                         "--labels", self.path("l.npy"), "-o", self.path("m.npz")]
                whole = self.json(*words, "--checkpoint", self.path("state"))
                model, labels = self.model("m.npz"), self.read("l.npy")
                again = self.json(*words, "--checkpoint", self.path("state"), "--resume")
                for key in ("cells", "items", "restart", "free_energy", "scored_pairs", "notes"):
                    self.assertEqual(again[key], whole[key], (algorithm, seed, key))
                self.assertEqual((self.model("m.npz"), self.read("l.npy")), (model, labels))
                self.assertGreater(whole["cells"], 0)
                earlier += whole["restart"] == 1
        self.assertGreater(earlier, 0)

    def test_states_of_other_versions(self):
        """An option that a state does not know is as it is by default; a state with an option that is not
        known here is told to be of another version."""
        data, state = self.data(600, 5), self.path("state")
        words = ["fit", data, "-k", 5, "--family", "diag", "--tolerance", 0, "--seeding", "random"]
        self.vem(*words, "--max-steps", 9, "-q", "-o", self.path("whole.npz"))
        self.vem(*words, "--max-steps", 4, "-q", "--checkpoint", state)
        raw = self.read("state")
        mark, blocks = raw[:MARK], blocks_of(raw)
        self.assertEqual(state_of(mark, blocks), raw)
        new = ("cells", "depth", "expand", "gap")
        self.assertLess(set(new), {name for name, _ in blocks})
        older = [(name, block) for name, block in blocks if name not in new]
        self.write("state", state_of(mark, older))
        more = ["--max-steps", 9, "-q", "--checkpoint", state, "--resume", "-o", self.path("m.npz")]
        self.refuse(2, [*words, *more, "--cells", 300], "another version of vem wrote it",
                    "had no --cells", "without --resume the fit begins again")
        self.vem(*words, *more)
        self.assertEqual(self.model("m.npz"), self.model("whole.npz"))
        os.remove(self.path("m.npz"))
        colour = (b"colour".ljust(24, b"\0") + struct.pack("<QQ", 64, 1) + b"blue".ljust(64, b"\0"))
        at = [name for name, _ in blocks].index("held")
        newer = [*blocks[:at], ("colour", colour), *blocks[at:]]
        self.write("state", state_of(mark, newer))
        self.refuse(2, [*words, *more], "another version of vem wrote it",
                    "options this one does not know", "without --resume the fit begins again")
        self.write("state", state_of(mark, [b for b in blocks if b[0] != "fingerprint"]))
        self.refuse(1, [*words, *more], "fingerprint", "Another version of vem may have written it")

    def test_words(self):
        data = self.data(500, 5)
        self.refuse(2, ["fit", data, "-k", 5, "--resume"], "--resume needs the file")
        self.refuse(2, ["fit", data, "-k", 5, "--checkpoint", data], "is the input")
        self.refuse(2, ["fit", data, "-k", 5, "--checkpoint", self.path("m.npz"), "-o",
                        self.path("m.npz")], "name the same file")
        self.refuse(1, ["fit", data, "-k", 5, "--checkpoint", self.path("no/state")], "directory")
        self.refuse(2, ["score", data, data, "--checkpoint", self.path("state")], "no option")
        self.refuse(2, ["fit", data, "-k", 5, "--checkpoint", self.path("s")], "VEM_CHECKPOINT_SECONDS",
                    env=dict(os.environ, VEM_CHECKPOINT_SECONDS="soon"))
        self.vem("fit", data, "-k", 5, "-q", "--checkpoint", self.path("state"))
        self.refuse(2, ["fit", data, "-k", 6, "-q", "--checkpoint", self.path("state"), "--resume"],
                    "belongs to another fit", "--clusters was 5, here it is 6")
        self.write("cut", self.read("state")[:-100])
        self.refuse(1, ["fit", data, "-k", 5, "-q", "--checkpoint", self.path("cut"), "--resume"],
                    "cannot be resumed from: it is cut short")


if __name__ == "__main__":
    main()
