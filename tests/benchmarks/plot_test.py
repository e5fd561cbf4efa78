"""Tests of benchmarks/plot, run as a program: plot_test.py tables | pictures | results FILE...

`pictures` ends with 77, which ctest takes for skipped, where there is no matplotlib. `results` looks at files that
baton_perf has just written.
"""
import json
import math
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PLOT = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "plot"
RESULTS = []  # files for the tests of `results`


def plot(*arguments, stdout=subprocess.PIPE, before=None):
    """`before`: what the process does first."""
    return subprocess.run([sys.executable, PLOT, *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE, text=True,
                          timeout=50, preexec_fn=before)


def row(size, own, nccl, sym, wrong=0, host=2.5):
    peers = [{"name": "nccl", "median_us": nccl, "wrong": 0}, {"name": "nccl_symmetric", "median_us": sym, "wrong": wrong}]
    return {"bytes": size, "sent_bytes": size / 2, "type": "float32", "redop": "sum", "median_us": own, "p99_us": own * 2,
            "host_us": host, "wrong": 0, "limit_us": own / 2, "wire": 0.5, "best": "nccl", "ratio": nccl / own, "peers": peers}


def synthetic():
    rows = [row(1024, 5.0, 10.0, 9.0, wrong=1), row(4096, 8.0, 4.0, 9.0), row(1 << 20, 20.0, 40.0, 50.0, host=5.0)]
    return {
        "date": "2000-01-02", "command": "baton_perf --against nccl", "run": [], "checked": True, "ranks": 2, "on_gpu": True,
        "versions": {"baton": "9.9.9", "cuda": "CUDA 99", "driver": "1.2", "nccl": "2.99.0 (x.so)", "mpi": "MPI X"},
        "gpus": ["A GPU, PCI 1", "A GPU, PCI 2"], "device_bytes": 3 << 20,
        "limits": {"eager": {"how": ["limit of latency: 1.00 us = a test"], "launch_host_us": 2.0}},
        "peers": [{"name": "nccl", "label": "nccl"}, {"name": "nccl_symmetric", "label": "nccl sym"},
                  {"name": "mpi", "label": "mpi", "absent": "it is a test"}],
        "tables": [{"operation": "allreduce", "mode": "eager", "memory": "malloc", "in_place": False, "rows": rows}],
    }


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = self.write("two.json", json.dumps(synthetic()))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def expect_refused(self, run, *words):
        self.assertEqual(run.returncode, 2, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        self.assertNotIn("Traceback", run.stderr)


class Tables(Folder):
    def test_rows_peers_and_ratios(self):
        run = plot("--markdown", self.results)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("### allreduce, 2 ranks, float32 sum, eager", run.stdout)
        self.assertIn("| size | Baton, us | p99, us | nccl, us | nccl sym, us | ratio | wire | bus GB/s | host us |", run.stdout)
        self.assertIn("| 4 KiB | 8.00 | 16.00 | 4.00 | 9.00 | 0.50 | 0.50 | 0.3 | 2.50 |", run.stdout)
        self.assertIn("| 1 MiB | 20.00 | 40.00 | 40.00 | 50.00 | 2.00 | 0.50 | 26.2 | 5.00 |", run.stdout)

    def test_a_wrong_peer_has_no_time(self):
        self.assertIn("| 1 KiB | 5.00 | 10.00 | 10.00 |  | 2.00 |", plot("--markdown", self.results).stdout)

    def test_what_was_measured_how_and_what_was_missed(self):
        text = plot("--markdown", self.results).stdout
        for expected in ("2 ranks on A GPU", "2000-01-02", "NCCL 2.99.0", "mpirun -np 2 baton_perf --against nccl",
                         "limit of latency: 1.00 us = a test", "mpi is absent: it is a test", "3.0 MiB",
                         "| wire at the largest size | host / bare launch: median, most |",
                         "| 1.26 | 0.50 | 4 KiB (0.50, nccl) | 0.50 | 1.25, 2.50 |"):
            self.assertIn(expected, text)

    def test_the_command_has_the_settings_that_it_ran_under(self):
        data = synthetic()
        data["environment"] = {"BATON_P2P": "off", "BATON_TUNING": "/a folder/x"}
        text = plot("--markdown", self.write("apart.json", json.dumps(data))).stdout
        self.assertIn("\nBATON_P2P=off BATON_TUNING='/a folder/x' mpirun -np 2 baton_perf --against nccl\n", text)

    def test_a_setting_of_several_lines_stays_in_its_block(self):
        data = synthetic()
        data["environment"] = {"BATON_NOTE": "first\n```\nand more"}
        text = plot("--markdown", self.write("lines.json", json.dumps(data))).stdout
        self.assertIn("\nBATON_NOTE='first ...' mpirun -np 2 baton_perf --against nccl\n```\n", text)
        self.assertNotIn("and more", text)

    def test_large_sizes_have_a_mean_of_their_own(self):
        self.assertNotIn("from 64 MiB on", plot("--markdown", self.results).stdout)
        data = synthetic()
        data["tables"][0]["rows"] += [row(64 << 20, 10.0, 20.0, 30.0), row(1 << 30, 20.0, 10.0, 30.0)]
        data["tables"].append({**synthetic()["tables"][0], "operation": "reduce_scatter"})
        text = plot("--markdown", self.write("large.json", json.dumps(data))).stdout
        self.assertIn("| ratio: geometric mean | from 64 MiB on | smallest |", text)
        self.assertIn("| allreduce, 2 ranks, float32 sum, eager | 1.15 | 1.00 | 0.50 |", text)
        self.assertIn("| reduce_scatter, 2 ranks, float32 sum, eager | 1.26 |  | 0.50 |", text)

    def test_where_ranks_may_run(self):
        data = synthetic()
        data["run"] = ["each rank may run on 7 processors", "CPU: a test"]
        text = plot("--markdown", self.write("free.json", json.dumps(data))).stdout
        self.assertIn("\n- each rank may run on 7 processors\n", text)
        self.assertNotIn("CPU: a test", text)

    def test_a_page_is_rewritten_between_its_markers_only(self):
        page = self.write("page.md", "before\n<!-- results: two.json -->\nold\n<!-- end of results -->\nafter\n")
        self.assertEqual(plot("--check", page).returncode, 1)
        self.assertEqual(plot("--write", page).returncode, 0)
        text = page.read_text()
        self.assertTrue(text.startswith("before\n<!-- results: two.json -->\n"))
        self.assertTrue(text.endswith("<!-- end of results -->\nafter\n"))
        self.assertIn("| 4 KiB | 8.00 |", text)
        self.assertNotIn("old", text)
        self.assertEqual(plot("--check", page).returncode, 0)
        self.write("two.json", json.dumps(synthetic()).replace("8.0", "8.5"))
        self.assertEqual(plot("--check", page).returncode, 1, "other results, other page")

    def test_a_page_that_cannot_be_written_is_left_alone(self):
        text = "<!-- results: two.json -->\n<!-- end of results -->\n"
        page = self.write("page.md", text)
        link = self.folder / "link.md"
        link.symlink_to(page)
        page.chmod(0o640)
        full = plot("--write", link, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.expect_refused(full, "cannot write", "page.md")
        self.assertEqual(page.read_text(), text)
        self.assertEqual(plot("--write", link).returncode, 0)
        self.assertNotEqual(page.read_text(), text)
        self.assertTrue(link.is_symlink())
        self.assertEqual(page.stat().st_mode & 0o777, 0o640)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"two.json", "page.md", "link.md"})

    def test_patterns_may_match_nothing_names_may_not(self):
        page = self.write("page.md", "<!-- results: none-*.json -->\n<!-- end of results -->\n")
        self.assertEqual(plot("--write", page).returncode, 0)
        self.assertIn("No results are committed yet.", page.read_text())
        page = self.write("page.md", "<!-- results: none.json -->\n<!-- end of results -->\n")
        self.expect_refused(plot("--write", page), "there is no none.json")

    def test_broken_markers(self):
        for text in ("no marker", "<!-- end of results -->", "<!-- results: two.json -->\nopen",
                     "<!-- results: two.json -->\n<!-- results: two.json -->\n<!-- end of results -->"):
            page = self.write("page.md", text)
            self.expect_refused(plot("--write", page), "page.md")
            self.assertEqual(page.read_text(), text, "a page that was refused is left alone")

    def test_wrong_arguments(self):
        self.expect_refused(plot(), "usage")
        self.expect_refused(plot("--no-such-option", self.results), "usage")
        self.expect_refused(plot("--markdown", "--write", self.results), "not allowed with")
        self.expect_refused(plot("--markdown", "--out", self.folder, self.results), "--out is for pictures")
        self.expect_refused(plot("--markdown", self.folder / "missing.json"), "cannot read", "missing.json")

    def test_what_is_printed_is_there_to_read(self):
        self.expect_refused(plot("--markdown", self.results, before=lambda: os.close(1)), "closed")
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = plot("--markdown", self.results, stdout=full)
        self.assertEqual((run.returncode, run.stderr),
                         (2, "plot: cannot write to the standard output: No space left on device\n"))
        reader, writer = os.pipe()
        os.close(reader)
        run = plot("--markdown", self.results, stdout=writer)
        os.close(writer)
        self.assertEqual((run.returncode, run.stderr), (-signal.SIGPIPE, ""), "who reads only the first lines is no error")

    def test_one_rank(self):
        text = plot("--markdown", self.write("one.json", json.dumps({**synthetic(), "ranks": 1}))).stdout
        self.assertIn("1 rank on A GPU", text)
        self.assertIn("### allreduce, 1 rank, float32", text)

    def test_files_without_end(self):
        memory = 1 << 30
        for option in ("--markdown", "--write"):
            run = plot(option, "/dev/zero", before=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)))
            self.expect_refused(run, "/dev/zero", "larger than 64 MiB")

    def test_what_was_not_verified_says_so_and_is_on_no_page(self):
        unchecked = synthetic()
        unchecked["checked"] = False
        path = self.write("unchecked.json", json.dumps(unchecked))
        self.assertIn("Not verified", plot("--markdown", path).stdout)
        page = self.write("page.md", "<!-- results: unchecked.json -->\n<!-- end of results -->\n")
        self.expect_refused(plot("--write", page), "--no-check")

    def test_memory_that_was_not_registered_has_a_table_of_its_own(self):
        both = synthetic()
        both["tables"].append({**both["tables"][0], "not_registered": "it is a test"})
        titles = [line for line in plot("--markdown", self.write("both.json", json.dumps(both))).stdout.splitlines()
                  if line.startswith("### ")]
        self.assertEqual(len(set(titles)), 2)
        self.assertIn("unregistered memory", titles[1])

    def test_files_that_are_not_results(self):
        broken = synthetic()
        del broken["tables"][0]["rows"][1]["median_us"]
        for text, word in (("{", "not JSON"), ("[]", "not a results file"), ("{}", "tables"), ("null", "not a results"),
                           (json.dumps({**synthetic(), "tables": {}}), "tables is no list"),
                           (json.dumps(broken), "median_us")):
            self.expect_refused(plot("--markdown", self.write("bad.json", text)), "bad.json", word)
        for key, value in (("median_us", 0), ("median_us", math.nan), ("p99_us", math.inf), ("limit_us", -1)):
            wrong = synthetic()
            wrong["tables"][0]["rows"][0][key] = value
            run = plot("--markdown", self.write("bad.json", json.dumps(wrong)))
            self.expect_refused(run, "bad.json", f"{key} is not positive and finite")
        for change in (lambda data: data["limits"]["eager"].update(how=True), lambda data: data["tables"][0].update(mode=-1),
                       lambda data: data["versions"].update(mpi=7), lambda data: data["tables"][0].update(memory=math.inf)):
            wrong = synthetic()
            change(wrong)
            self.expect_refused(plot("--markdown", self.write("bad.json", json.dumps(wrong))), "bad.json", "not a results file")
        page = self.write("page.md", "<!-- results: bad.json -->\n<!-- end of results -->\n")
        for text in ("[" * 100000, json.dumps({**synthetic(), "ranks": math.inf}),
                     json.dumps(synthetic()).replace(": 1024,", f": {'1' * 5000},"),
                     json.dumps(synthetic()).replace('"wrong": 0', '"wrong": Infinity'),
                     json.dumps({**synthetic(), "date": "\ud800"})):
            bad = self.write("bad.json", text)
            for run in (plot("--markdown", bad), plot("--check", page), plot("--write", page)):
                self.expect_refused(run, "bad.json is not")
                self.assertEqual(run.stderr.count("\n"), 1)
        for key, value in (("sent_bytes", math.nan), ("sent_bytes", -1), ("bytes", -1)):
            wrong = synthetic()
            wrong["tables"][0]["rows"][0][key] = value
            run = plot("--markdown", self.write("bad.json", json.dumps(wrong)))
            self.expect_refused(run, "bad.json", f"{key} is no number of bytes")
        (self.folder / "bad.json").write_bytes(b"\xff\xfe\x00")
        self.expect_refused(plot("--markdown", self.folder / "bad.json"), "bad.json")


class Pictures(Folder):
    def test_svg_and_png_of_every_table(self):
        run = plot(self.results)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")
        svg = self.folder / "pictures" / "two-allreduce-float32-sum-eager.svg"
        self.assertEqual(run.stdout.split("\n")[0], str(svg))
        self.assertIn("<svg", svg.read_text())
        self.assertEqual(svg.with_suffix(".png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_the_same_results_give_the_same_picture(self):
        plot(self.results, "--out", self.folder / "a")
        plot(self.results, "--out", self.folder / "b")
        name = "two-allreduce-float32-sum-eager.svg"
        self.assertEqual((self.folder / "a" / name).read_bytes(), (self.folder / "b" / name).read_bytes())

    def test_pictures_of_one_file_do_not_replace_another_s(self):
        other = self.folder / "other"
        other.mkdir()
        shutil.copy(self.results, other)
        out = self.folder / "together"
        self.expect_refused(plot("--out", out, self.results, other / self.results.name), "would have the same pictures")
        self.assertFalse(out.exists())

    def test_a_page_shows_the_pictures_that_exist(self):
        page = self.write("page.md", "<!-- results: two.json -->\n<!-- end of results -->\n")
        plot("--write", page)
        self.assertNotIn("![", page.read_text())
        plot(self.results)
        plot("--write", page)
        self.assertIn("](pictures/two-allreduce-float32-sum-eager.svg)", page.read_text())

    def test_results_without_a_comparison(self):
        data = synthetic()
        for key in ("peers", "limits"):
            del data[key]
        for one in data["tables"][0]["rows"]:
            for key in ("peers", "ratio", "best", "wire", "limit_us", "host_us"):
                del one[key]
        run = plot(self.write("plain.json", json.dumps(data)))
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_bad_files(self):
        self.expect_refused(plot(self.write("bad.json", "{}")), "bad.json")
        self.expect_refused(plot("--out", self.write("a_file", ""), self.results), "cannot write", "a_file")


class Results(unittest.TestCase):
    def test_a_real_comparison_with_mpi(self):
        for path in RESULTS:
            data = json.loads(pathlib.Path(path).read_text())
            tables = {(table["operation"], table["type"]): table for table in data["tables"]}
            for key in (("allgather", "float32"), ("reduce_scatter", "float32"), ("allreduce", "float32"),
                        ("sendrecv", "bfloat16"), ("pair", "float32")):
                rows = tables[key]["rows"]
                self.assertEqual([one["bytes"] for one in rows], [1024, 4096, 16384], key)
                for one in rows:
                    self.assertEqual(one["best"], "mpi", key)
                    self.assertAlmostEqual(one["ratio"], one["peers"][0]["median_us"] / one["median_us"])
                    self.assertAlmostEqual(one["wire"], one["limit_us"] / one["median_us"])
                    self.assertEqual(one["peers"][0]["wrong"], 0, key)
            self.assertNotIn("ratio", tables[("put", "float32")]["rows"][0])
            absent = {peer["name"]: peer["absent"] for peer in data["peers"] if "absent" in peer}
            self.assertEqual(len(absent), 4)
            self.assertTrue(all("NCCL needs GPUs" in reason for reason in absent.values()), absent)

    def test_the_tables_can_be_written(self):
        run = plot("--markdown", *RESULTS)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("| operation | ratio: geometric mean |", run.stdout)


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = {"tables": Tables, "pictures": Pictures, "results": Results}
    if what not in cases:
        sys.exit(__doc__)
    if what == "pictures":
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            print("skipped: no matplotlib")
            sys.exit(77)
    RESULTS = sys.argv[2:]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(cases[what])
    sys.exit(0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1)
