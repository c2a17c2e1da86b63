#!/usr/bin/env python3
"""Ctrl-C ends a fit within a step and keeps the model; functions of the caller are told, and may end
it; while the library works other Python threads do."""
import threading

from package_case import LIMIT, Case, blobs, main, np, python, vem

# A fit without an end (a million restarts), and Ctrl-C when another thread has seen for a while that
# the main one is in the library.
ENDLESS = """
import os, signal, sys, threading, time, numpy as np, vem
X = np.random.RandomState(0).normal(size=(2000, 8))
main, seen = threading.get_ident(), []
def interrupt():
    while len(seen) < 50:
        time.sleep(0.01)
        frame = sys._current_frames()[main]
        at = (frame.f_code.co_name, frame.f_lasti)
        if at[0] != "_call" or (seen and seen[-1] != at):
            seen.clear()
        if at[0] == "_call":
            seen.append(at)
    os.kill(os.getpid(), signal.SIGINT)
est = vem.{make}
threading.Thread(target=interrupt, daemon=True).start()
try:
    est.fit(X)
    print("ended by itself")
except KeyboardInterrupt:
    print("interrupted", est.report_["outcome"], len(est.predict(X)))
"""


class Interrupt(Case):
    def test_ctrl_c_keeps_the_model(self):
        for make in ("KMeans(8, n_init=10**6, tol=0)", "GaussianMixture(4, n_init=10**6)"):
            done = python(ENDLESS.replace("{make}", make))
            self.assertEqual(done.stdout.strip(), "interrupted stopped 2000", done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_function_may_end_the_fit(self):
        X, told = blobs(3000, 4, 4), []

        def callback(progress):
            told.append(progress)
            return progress["phase"] == "em" and progress["step"] >= 2

        gm = vem.GaussianMixture(4, tol=0, max_iter=1000, callback=callback, random_state=0)
        gm.fit(X)
        self.assertEqual(gm.report_["outcome"], "stopped")
        self.assertFalse(gm.converged_)
        self.assertTrue(told)
        self.assertLessEqual({"phase", "step", "free_energy", "seconds"}, set(told[-1]))
        self.assertEqual(gm.predict(X).shape, (3000,))

    def test_rows_that_change_meanwhile(self):
        # Wrong, and nobody can say what comes out: but it is a model, or a sentence.
        for value in (np.nan, 1e300):
            for phase in ("seed", "em", "measure"):
                for make in (vem.KMeans, vem.GaussianMixture, vem.BayesianKMeans):
                    X = blobs(3000, 3, 3)

                    def callback(progress):
                        if progress["phase"] == phase:
                            X[::7] = value

                    est = make(3, random_state=0, callback=callback)
                    try:
                        labels = est.fit_predict(X)
                    except ValueError:
                        continue
                    self.assertTrue(((0 <= labels) & (labels < 3)).all())
                    self.assertTrue(np.isfinite(est._state["means"]).all())

    def test_what_a_function_returns_is_no_answer(self):
        X = blobs(500, 3, 3)
        a = vem.KMeans(3, random_state=0, callback=lambda progress: "anything").fit(X)
        self.same(a.cluster_centers_, vem.KMeans(3, random_state=0).fit(X).cluster_centers_)

    def test_an_exception_comes_through(self):
        class Mine(Exception):
            pass

        def callback(progress):
            raise Mine("enough")

        for est, X in ((vem.KMeans(3, callback=callback), blobs(500)),
                       (vem.BayesianKMeans(4, callback=callback), blobs(500)),
                       (vem.AgglomerativeBayes(4, callback=callback), blobs(100))):
            with self.assertRaisesRegex(Mine, "enough"):
                est.fit(X)

    def test_other_threads_work_meanwhile(self):
        # The library holds the lock only while it tells: a thread waits for a thing that another
        # one does during the fit, in a function that is called by the fit.
        met = threading.Event()
        begun = threading.Event()

        def other():
            begun.wait(LIMIT)
            met.set()

        thread = threading.Thread(target=other)
        thread.start()

        def callback(progress):
            begun.set()
            return met.wait(LIMIT) and False

        vem.KMeans(3, random_state=0, callback=callback).fit(blobs(500))
        thread.join()
        self.assertTrue(met.is_set())

    def test_a_child_of_a_fork_can_fit(self):
        done = python(
            "import os, numpy as np, vem\n"
            "X = np.random.RandomState(0).normal(size=(20000, 8))\n"
            "first = vem.KMeans(8, random_state=0).fit(X)\n"
            "child = os.fork()\n"
            "again = vem.KMeans(8, random_state=0).fit(X)\n"
            "assert np.array_equal(first.cluster_centers_, again.cluster_centers_)\n"
            "if child == 0: os._exit(0)\n"
            "assert os.waitpid(child, 0)[1] == 0\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_verbose(self):
        done = python(
            "import sys, numpy as np, vem\n"
            "X = np.random.RandomState(0).normal(size=(3000, 4))\n"
            "for hide in (False, True):\n"
            "    if hide: sys.modules['tqdm'] = sys.modules['tqdm.auto'] = None\n"
            "    vem.KMeans(4, verbose=2, random_state=0).fit(X)\n"
            "    vem.AgglomerativeBayes(4, verbose=1).fit(X[:50])\n"
            "    vem.KMeans(4, random_state=0).fit(X)\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("KMeans: converged after"), 2)
        self.assertEqual(done.stdout.count("exact search"), 2)
        quiet = python("import numpy as np, vem\nvem.KMeans(2).fit(np.eye(4))")
        self.assertEqual((quiet.stdout, quiet.stderr), ("", ""))


if __name__ == "__main__":
    main()
