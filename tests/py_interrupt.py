#!/usr/bin/env python3
"""Ctrl-C and its kin, and how far we are on a terminal. Nothing waits for a time: a state or a line
that appears says that the loop runs."""
import fcntl
import pty
import struct
import termios

from cli_case import *

ENV = dict(os.environ, VEM_CHECKPOINT_SECONDS="0")
STEPS = "ending after this step with a model; Ctrl-C again quits now, without one"
# Between the seeding and the first step that is told, less is promised.
ANSWER = f"({STEPS}|ending; Ctrl-C again quits now)"


def defaults():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Interrupt(Case):
    def start(self, *words, n=4000, **more):
        """A fit that would take very long; comes back when its loop has begun."""
        data, state = self.path("big.npy"), self.path("state")
        self.vem("generate", "separated", "-q", "-n", n, "-d", 12, "-k", 40,
                 "--separation", 0.5, "-o", data)
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": ENV, **more}
        process = subprocess.Popen(
            [VEM, "fit", data, "-k", "40", "--algorithm", "gmm", "--tolerance", "1e-300",
             "--max-steps", "1000000", "--seeding", "random", "--checkpoint", state, *words],
            preexec_fn=defaults, **more)
        self.addCleanup(process.kill)
        self.wait_for(lambda: os.path.exists(state), process)
        return process

    def check_stopped(self, process, code):
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, code, err)
        result = json.loads(out)
        self.assertEqual(result["outcome"], "stopped")
        self.assertGreaterEqual(result["steps"], 1)
        model = npz_parse(self.path("m.npz"))
        self.assertEqual(model["means"][0], (40, 12))
        meta = json.loads(bytes(model["meta"][2]).decode())
        self.assertEqual(meta["outcome"], "stopped")
        self.assertEqual(meta["free_energy"], result["free_energy"])
        return err

    def test_once(self):
        process = self.start("-o", self.path("m.npz"), "--json")
        process.send_signal(signal.SIGINT)
        said = self.wait_for_line(process.stderr, ANSWER)
        self.assertNotIn("\r", said)
        self.check_stopped(process, 130)

    def test_terminate(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            process = self.start("-o", self.path("m.npz"), "--json")
            process.send_signal(number)
            self.wait_for_line(process.stderr, "asked to terminate: ending")
            self.check_stopped(process, code)
            # What it left is gone on from.
            words = ["fit", self.path("big.npy"), "-k", 40, "--algorithm", "gmm", "--tolerance", "1e-300",
                     "--seeding", "random", "--checkpoint", self.path("state"), "--resume", "--json"]
            steps = json.loads(bytes(npz_parse(self.path("m.npz"))["meta"][2]).decode())["steps"]
            done = self.vem(*words, "--max-steps", steps + 1)
            self.assertEqual(json.loads(done.stdout)["steps"], steps + 1)
            for name in ("state", "m.npz"):
                os.unlink(self.path(name))

    def test_twice(self):
        process = self.start("-o", self.path("m.npz"), n=40000)
        process.send_signal(signal.SIGINT)
        self.wait_for_line(process.stderr, ANSWER)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 130)
        names = os.listdir(self.folder.name)
        if "m.npz" in names:  # it was just quick enough to end well
            npz_parse(self.path("m.npz"))
            names.remove("m.npz")
        self.assertEqual(sorted(names), ["big.npy", "state"])

    def test_in_the_first_moments(self):
        # Before there is anything to end well: the model to start from has not come yet.
        pipe, data = self.path("start.npz"), self.npy("x.npy", blobs(n=30)[0])
        os.mkfifo(pipe)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            process = subprocess.Popen([VEM, "fit", data, "--init", pipe, "-o", self.path("m.npz")],
                                       preexec_fn=defaults)
            self.addCleanup(process.kill)
            with open(pipe, "wb"):  # waits for the reader
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=LIMIT), code)

    def test_quiet(self):
        process = self.start("-q", "-o", self.path("m.npz"), "--json")
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.check_stopped(process, 130), "")

    def test_in_a_log(self):
        process = self.start(env=self.ticking(0.5, VEM_CHECKPOINT_SECONDS="0"))
        err = self.wait_for_line(process.stderr, r"vem: fitting: step \d+/1000000.*F = ")
        process.send_signal(signal.SIGINT)
        out, more = process.communicate(timeout=LIMIT)
        self.assertRegex(err + more, r"vem: fitting: step \d+/1000000(, (<|about) .* left)?, F = \S+")
        self.assertIn("stopped by Ctrl-C", out)
        self.assertNotIn("\r", err + more)

    def test_steps_as_they_happen(self):
        process = self.start("-v", env=self.ticking(0.001, VEM_CHECKPOINT_SECONDS="0"))
        self.wait_for_line(process.stderr, r"^ +2 +-?\d+\.\d+ ")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)


class Terminal(Case):
    def run_on(self, columns, words, ends=None, tick=0.02):
        """What a terminal of so many columns got, and the status. `ends`: Ctrl-C at this text."""
        keyboard, screen = pty.openpty()
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([VEM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=screen,
                                   preexec_fn=defaults, env=self.ticking(tick))
        self.addCleanup(process.kill)
        os.close(screen)
        got = b""
        while True:
            try:
                piece = os.read(keyboard, 4096)
            except OSError:  # the other end is closed
                piece = b""
            if not piece:
                break
            got += piece
            if ends and ends.encode() in got:
                ends = None
                process.send_signal(signal.SIGINT)
        os.close(keyboard)
        return got.decode(), process.wait(timeout=LIMIT)

    def screen_of(self, text, columns):
        """Lines as they stand at the end, after a check that none was ever too long."""
        lines, line = [], ""
        for token in re.findall(r"\r\n|\r|\n|\033\[K|[^\r\n\033]+", text):
            if token in ("\r\n", "\n"):
                lines.append(line)
                line = ""
            elif token == "\r":
                line = ""
            elif token == "\033[K":
                pass
            else:
                line += token
                if not token.startswith("vem: "):
                    self.assertLess(len(line), columns, line)
        return lines + [line]

    def test_narrow(self):
        data = self.path("x.npy")
        self.vem("generate", "separated", "-q", "-n", 6000, "-d", 4, "-k", 30, "--separation", 0.5,
                 "-o", data)
        for columns in (40, 80):
            text, code = self.run_on(columns, ["fit", data, "-k", 30, "--family", "diag", "--held", 3,
                                               "--max-steps", 30, "--threads", 1])
            self.assertEqual(code, 0)
            lines = self.screen_of(text, columns)
            self.assertEqual(lines[-1], "")
            self.assertEqual([line for line in lines if line and not line.startswith("vem")], [])
            steps = [int(word) for word in re.findall(r"step (\d+)/", text)]
            self.assertGreater(len(steps), 1)
            self.assertEqual(steps, sorted(steps))
            for word in re.findall(r"step (\d+)/(\d+)", text):
                self.assertLessEqual(int(word[0]), int(word[1]))

    def bars(self, text):
        """(restart, step, time left in seconds or None, of a plan or outlook) of each bar."""
        found = []
        for bar in re.split(r"[\r\n]+", text):
            words = re.search(r"^fitting .*?(?:restart (\d+)/\d+, )?step (\d+)/\d+"
                              r"(?:, (about|<) (\d+) (s|min) left)?", bar)
            if words:
                restart, step, about, left, unit = words.groups()
                seconds = int(left) * (60 if unit == "min" else 1) if about == "about" else None
                found.append((restart, int(step), seconds))
        return found

    def test_agrees_with_the_plan(self):
        """At the rate of the first steps a million of them would take hours; the plan above the
        bar knows that a fit takes fewer."""
        data = self.path("x.npy")
        self.vem("generate", "separated", "-q", "-n", 20000, "-d", 4, "-k", 30, "--separation",
                 0.5, "-o", data)
        text, code = self.run_on(120, ["fit", data, "-k", 30, "--algorithm", "gmm", "--tolerance",
                                       "1e-300", "--max-steps", 1000000, "--threads", 1, "-v"],
                                 ends="step 40/", tick=0.001)
        self.assertEqual(code, 130)
        amount, unit = re.search(r"and about (\d+) (second|minute)", text).groups()
        planned = int(amount) * (60 if unit == "minute" else 1)
        left = [seconds for _, _, seconds in self.bars(text) if seconds is not None]
        self.assertTrue(left, text)
        self.assertLessEqual(left[0], planned)

    def test_no_time_before_it_is_known(self):
        """The plan of so small a fit is less than a second, which says nothing about the rest."""
        data = self.path("x.npy")
        self.vem("generate", "separated", "-q", "-n", 20000, "-d", 4, "-k", 300, "--separation",
                 0.5, "-o", data)
        text, code = self.run_on(120, ["fit", data, "-k", 300, "--algorithm", "kmeans",
                                       "--max-steps", 3, "--threads", 1, "-v"], tick=0.02)
        self.assertEqual(code, 0)
        self.assertNotIn(" 0 s left", text)

    def test_restarts_are_said(self):
        data = self.path("x.npy")
        self.vem("generate", "separated", "-q", "-n", 2000, "-d", 2, "-k", 9, "--separation", 0.5,
                 "-o", data)
        text, code = self.run_on(120, ["fit", data, "-k", 9, "--algorithm", "gmm", "--max-steps", 12,
                                       "--restarts", 3, "--threads", 1])
        self.assertEqual(code, 0)
        places = [(int(restart), step) for restart, step, _ in self.bars(text)]
        self.assertEqual({restart for restart, _ in places}, {1, 2, 3})
        self.assertEqual(places, sorted(places))

    def test_answer_on_a_line_of_its_own(self):
        data = self.path("x.npy")
        self.vem("generate", "separated", "-q", "-n", 4000, "-d", 4, "-k", 30, "--separation", 0.5,
                 "-o", data)
        text, code = self.run_on(40, ["fit", data, "-k", 30, "--algorithm", "gmm", "--tolerance",
                                      "1e-300", "--max-steps", 1000000], ends="fitting step")
        self.assertEqual(code, 130)
        lines = self.screen_of(text, 40)
        self.assertIn("vem: " + STEPS, lines)
        self.assertEqual([line for line in lines if line and not line.startswith("vem")], [])

    def test_nothing_is_promised_while_seeding(self):
        data = self.path("x.npy")
        self.vem("generate", "separated", "-q", "-n", 60000, "-d", 12, "-k", 40, "-o", data)
        text, code = self.run_on(160, ["fit", data, "-k", 50000, "--algorithm", "kmeans",
                                      "--seeding", "kmeans++", "-o", self.path("m.npz")],
                                 ends="seeding")
        lines = self.screen_of(text, 160)
        self.assertEqual(code, 130)
        self.assertIn("vem: ending; Ctrl-C again quits now", lines)
        self.assertIn("vem: interrupted; nothing was written.", lines)
        self.assertFalse(os.path.exists(self.path("m.npz")))


if __name__ == "__main__":
    main()
