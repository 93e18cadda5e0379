"""Which includes run the wrong way."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import arrows_check


class ArrowsCheckTest(unittest.TestCase):
    def allows(self, file, included, quoted=True):
        self.assertIsNone(arrows_check.check_include(file, included, quoted), f"{file} -> {included}")

    def refuses(self, file, included, part="may not know", quoted=True):
        why = arrows_check.check_include(file, included, quoted)
        self.assertIsNotNone(why, f"{file} -> {included}")
        self.assertIn(part, why)

    def test_spec_knows_nobody(self):
        self.allows("spec/model/model.cc", "spec/scenario/scenario.h")
        self.allows("spec/model/model.cc", "spec/tables/release.h")
        for included in ["reference/keys/key.h", "reports/result/result.h", "conformance/harness/case.h", "spec/abi/abi.h"]:
            self.refuses("spec/model/model.cc", included)
        self.refuses("spec/scenario/parse.cc", "spec/model/machine.h")
        self.refuses("spec/tables/release.h", "spec/abi/abi.h")

    def test_reports_know_nobody(self):
        self.allows("reports/json/json.cc", "reports/result/result.h")
        self.refuses("reports/json/json.cc", "spec/tables/release.h")

    def test_reference_knows_tables_and_what_is_below(self):
        self.allows("reference/registry/registry.cc", "reference/keys/key_set.h")
        self.allows("reference/keys/key_set.h", "spec/tables/release.h")
        self.allows("reference/autograd/engine.cc", "reference/transforms/vmap.h")
        self.allows("reference/adapter/adapter.cc", "spec/abi/adapter.h")
        self.refuses("reference/keys/key_set.h", "reference/registry/registry.h")
        self.refuses("reference/tensor/tensor.h", "reference/autograd/node.h")
        self.refuses("reference/registry/registry.cc", "spec/abi/abi.h")
        self.refuses("reference/registry/schema.cc", "spec/scenario/schema.h")
        self.refuses("reference/adapter/adapter.cc", "conformance/harness/case.h")

    def test_kernels_know_the_reference_and_not_its_adapter(self):
        self.allows("kernels/cpu/add.cc", "reference/registry/registry.h")
        self.refuses("kernels/cpu/add.cc", "reference/adapter/adapter.h")
        self.allows("kernels/backend/backend.cc", "reference/adapter/adapter.h")
        self.allows("kernels/backend/backend.cc", "kernels/cpu/register.h")

    def test_conformance_reaches_a_backend_only_through_the_abi(self):
        self.allows("conformance/harness/host.cc", "spec/abi/abi.h")
        self.allows("conformance/suites/keys.cc", "conformance/harness/property.h")
        self.refuses("conformance/suites/keys.cc", "reference/keys/key_set.h")
        self.refuses("conformance/harness/host.cc", "conformance/suites/keys.h")
        self.refuses("conformance/adapters/torch/backend.cc", "conformance/harness/case.h")
        self.refuses("perf/bench/bench.cc", "reference/dispatch/call.h")
        self.refuses("fuzz/targets/scenario.cc", "kernels/cpu/add.h")

    def test_a_strangers_device_knows_nothing_of_ours(self):
        self.allows("conformance/adapters/privateuseone/fill.cc", "loops.h")
        self.allows("conformance/adapters/privateuseone/fill.cc", "ATen/Dispatch.h", quoted=False)
        self.refuses("conformance/adapters/privateuseone/fill.cc", "spec/abi/abi.h", "may not know")

    def test_includes_are_written_from_the_root_with_quotes(self):
        self.refuses("spec/model/model.cc", "model.h", "not written from the root")
        self.refuses("spec/model/model.cc", "../tables/release.h", "not written from the root")
        self.allows("spec/model/model_test.cc", "gtest/gtest.h")
        self.refuses("spec/model/model.cc", "spec/model/model.h", "with quotes", quoted=False)
        self.refuses("spec/model/model.cc", "spec/model/model.cc", "source file")
        self.allows("spec/model/model.cc", "vector", quoted=False)

    def test_a_folder_without_a_rule_is_an_error(self):
        self.refuses("conformance/elsewhere/x.cc", "spec/abi/abi.h", "no rule says")

    def test_the_program_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            with contextlib.redirect_stderr(io.StringIO()) as stderr, contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(arrows_check.main(["--root", directory]), 1)
                (root / "spec/model").mkdir(parents=True)
                (root / "spec/model/model.cc").write_text('#include <vector>\n#include "spec/model/model.h"\n')
                self.assertEqual(arrows_check.main(["--root", directory]), 0)
                (root / "spec/model/model.cc").write_text('#include <vector>\n  # include "reference/keys/key.h"\n')
                self.assertEqual(arrows_check.main(["--root", directory]), 1)
            self.assertIn("spec/model/model.cc:2: error: spec/model may not know reference/keys", stderr.getvalue())


if __name__ == "__main__":
    unittest.main()
