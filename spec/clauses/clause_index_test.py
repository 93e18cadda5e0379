"""What breaks the build: run against a small tree that is sound, and then lacks one thing at a time."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import clause_index

CHAPTER = """# Keys

### KEY-001 Names are exact
`MUST` · profile core · since 1

A name is spelled `exactly` or <not> at *all*.

*Example* [KEY-001-exact](../corpus/keys/KEY-001-exact.scn)

```scn
impl  demo::f  CPU  k1
call  demo::f  [CPU]  => k1
```

*PyTorch* agrees.

### KEY-002 Sets are sets
`SHOULD` · profile guards · needs KEY-001 · since 1

See KEY-001.

*Example*

```scn
call  demo::f  [CPU CPU]  => k1
```

*PyTorch* differs.
"""
SCENARIO = """scenario 1 pytorch-1.13
clauses  KEY-001

impl     demo::f  CPU  k1
# between
call     demo::f  [CPU]   => k1
"""
SUITE = """#define PL_CLAUSES(...) Clauses({__VA_ARGS__})
PL_CASE("keys", "sets", PL_CLAUSES("KEY-002",
                           "KEY-001")) {}
"""
MODEL = """int a;  // [KEY-001]
int b;  // [KEY-001] [KEY-002]
"""
FAULTS = """// X(name, "KEY-999", "in a comment")
#define PLUMBLINE_FAULTS(X)                     \\
  X(case_is_ignored, "KEY-001", "names match "  \\
                                "in any case")
"""


class ClauseIndexTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.write("spec/clauses/01-keys.md", CHAPTER)
        self.write("spec/corpus/keys/KEY-001-exact.scn", SCENARIO)
        self.write("conformance/suites/keys.cc", SUITE)
        self.write("spec/model/keys.cc", MODEL)
        self.write("reference/faults/fault_list.h", FAULTS)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, name, old, new):
        text = (self.root / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def index(self, faults="error"):
        index = clause_index.Index(self.root, faults)
        index.run()
        return index

    def assert_errors(self, *parts):
        errors = self.index().errors
        self.assertEqual(len(errors), len(parts), errors)
        for error, part in zip(errors, parts):
            self.assertIn(part, error)

    def test_a_sound_tree_has_no_errors(self):
        index = self.index()
        self.assertEqual(index.errors, [])
        self.assertEqual(index.warnings, [])

    def test_everything_is_linked(self):
        clauses = {c["id"]: c for c in json.loads(self.index().to_json())["clauses"]}
        first = clauses["KEY-001"]
        self.assertEqual(first["where"], "spec/clauses/01-keys.md:3")
        self.assertEqual(first["tests"], ["spec/corpus/keys/KEY-001-exact.scn:2", "conformance/suites/keys.cc:2"])
        self.assertEqual(first["properties"], [{"name": "keys/sets", "where": "conformance/suites/keys.cc:2"}])
        self.assertEqual(first["model"], ["spec/model/keys.cc:1", "spec/model/keys.cc:2"])
        self.assertEqual(first["faults"], [{"name": "case_is_ignored", "where": "reference/faults/fault_list.h:3",
                                            "what": "names match in any case"}])
        self.assertEqual(first["text"], "A name is spelled exactly or <not> at all.")
        self.assertEqual(first["html"],
                         "<p>A name is spelled <code>exactly</code> or &lt;not&gt; at <em>all</em>.</p>")
        self.assertEqual(first["pytorch"], "agrees.")
        second = clauses["KEY-002"]
        self.assertEqual((second["strength"], second["profile"], second["needs"]), ("SHOULD", "guards", ["KEY-001"]))
        self.assertEqual(second["tests"], ["conformance/suites/keys.cc:2"])
        self.assertEqual(second["examples"], ["call  demo::f  [CPU CPU]  => k1"])

    def test_a_removed_test_is_an_error(self):
        self.edit("conformance/suites/keys.cc", '"KEY-002",', "")
        self.assert_errors("01-keys.md:17: error: KEY-002 has no test")

    def test_a_removed_clause_is_an_error_for_all_who_name_it(self):
        text = (self.root / "spec/clauses/01-keys.md").read_text(encoding="utf-8")
        start, end = text.index("### KEY-001"), text.index("### KEY-002")
        self.write("spec/clauses/01-keys.md", text[:start] + text[end:])
        self.assert_errors(
            "KEY-001-exact.scn:2: error: this scenario names KEY-001", "keys.cc:2: error: this case names KEY-001",
            "model/keys.cc:1: error: this line of the model names KEY-001", "model/keys.cc:2: error",
            "fault_list.h:3: error: the fault case_is_ignored names KEY-001", "the text names KEY-001",
            "KEY-002 needs KEY-001")

    def test_a_removed_fault_is_an_error_or_a_warning_as_asked(self):
        self.edit("reference/faults/fault_list.h", 'X(case_is_ignored, "KEY-001",', "")
        self.assert_errors("01-keys.md:3: error: KEY-001 is a MUST and has no fault")
        index = self.index(faults="warn")
        self.assertEqual(index.errors, [])
        self.assertEqual(len(index.warnings), 1)

    def test_a_should_needs_no_fault_and_a_missing_model_line_only_warns(self):
        self.edit("spec/model/keys.cc", " [KEY-002]", "")
        index = self.index()
        self.assertEqual(index.errors, [])
        self.assertIn("KEY-002 is named by no line of spec/model", index.warnings[0])

    def test_a_tensor_program_is_a_scenario_and_its_own_model(self):
        self.write("spec/corpus/keys/KEY-002-more.prog", "program 1\nclauses KEY-002\n")
        self.edit("spec/model/keys.cc", " [KEY-002]", "")
        index = self.index()
        self.assertEqual(index.errors, [])
        self.assertEqual(index.warnings, [])
        self.write("spec/corpus/keys/other.prog", "program 1\nclauses KEY-009\n")
        self.assert_errors("other.prog:2: error: this scenario names KEY-009")

    def test_ids_are_unique_and_well_formed(self):
        self.edit("spec/clauses/01-keys.md", "### KEY-002", "### KEY-001")
        self.edit("spec/clauses/01-keys.md", "· needs KEY-001 ", "")
        self.edit("conformance/suites/keys.cc", '"KEY-002",', "")
        self.edit("spec/model/keys.cc", " [KEY-002]", "")
        self.assert_errors("01-keys.md:17: error: KEY-001 is already used at spec/clauses/01-keys.md:3")
        self.edit("spec/clauses/01-keys.md", "### KEY-001 Sets", "### KEY-2 Sets")
        self.assert_errors("'KEY-2' is no clause id of this chapter")
        self.edit("spec/clauses/01-keys.md", "### KEY-2 Sets", "### RES-002 Sets")
        self.assert_errors("'RES-002' is no clause id of this chapter")

    def test_the_line_under_the_heading_is_checked(self):
        self.edit("spec/clauses/01-keys.md", "profile guards", "profile nonsense")
        self.assert_errors("unknown profile 'nonsense'")
        self.edit("spec/clauses/01-keys.md", "`SHOULD` · profile nonsense", "`MAY` · profile core")
        self.assert_errors("01-keys.md:18: error: the line under KEY-002 must read")

    def test_needs_names_clauses_and_has_no_circle(self):
        self.edit("spec/clauses/01-keys.md", "needs KEY-001", "needs KEY-001, KEY-009")
        self.assert_errors("KEY-002 needs KEY-009, which no chapter holds")
        self.edit("spec/clauses/01-keys.md", "needs KEY-001, KEY-009", "needs KEY-001")
        self.edit("spec/clauses/01-keys.md", "profile core · since", "profile core · needs KEY-002 · since")
        self.assert_errors("`needs` runs in a circle: KEY-001 -> KEY-002 -> KEY-001")

    def write_draft(self, needs="KEY-001"):
        self.write("spec/clauses/drafts/14-operators-in-work.md", f"""# Tensors

### OPER-901 A draft
`MUST` · profile operators · needs {needs} · since 1

As KEY-002 and OPER-901 say.

*Example*

```scn
nothing yet
```

*PyTorch* agrees.
""")

    def test_a_draft_needs_no_test_and_is_in_no_list(self):
        self.write_draft()
        self.write("spec/tables/operators/unary.toml", 'clauses = ["OPER-901", "KEY-001"]\n')
        index = self.index()
        self.assertEqual(index.errors, [])
        self.assertNotIn("OPER-901", index.manifest())
        told = json.loads(index.to_json())
        self.assertEqual([clause["id"] for clause in told["clauses"]], ["KEY-001", "KEY-002"])
        self.assertEqual(told["drafts"], [{"id": "OPER-901", "title": "A draft",
                                           "where": "spec/clauses/drafts/14-operators-in-work.md:3"}])

    def test_a_draft_is_checked_for_its_form(self):
        self.write_draft("TENS-002")
        self.edit("spec/clauses/drafts/14-operators-in-work.md", "KEY-002", "KEY-009")
        self.edit("spec/clauses/drafts/14-operators-in-work.md", "profile operators", "profile operator")
        self.assert_errors("OPER-901 names the unknown profile 'operator'", "the text names KEY-009",
                           "OPER-901 needs TENS-002, which no chapter holds")
        self.write_draft("OPER-901")
        self.assert_errors("`needs` runs in a circle: OPER-901 -> OPER-901")

    def test_nothing_that_binds_names_a_draft(self):
        self.write_draft()
        self.edit("spec/corpus/keys/KEY-001-exact.scn", "clauses  KEY-001", "clauses  KEY-001 OPER-901")
        self.edit("spec/model/keys.cc", "[KEY-002]", "[KEY-002] [OPER-901]")
        self.edit("reference/faults/fault_list.h", "#define", '#define X(new_fault, "OPER-901", "x")\n#define')
        self.edit("spec/clauses/01-keys.md", "See KEY-001.", "See OPER-901.")
        self.edit("spec/clauses/01-keys.md", "needs KEY-001", "needs OPER-901")
        self.assert_errors(
            "this scenario names OPER-901, which is a draft (spec/clauses/drafts/14-operators-in-work.md:3)",
            "this line of the model names OPER-901, which is a draft", "the fault new_fault names OPER-901, which is a draft",
            "the text names OPER-901, which is a draft", "KEY-002 needs OPER-901, which no chapter holds")

    def test_the_operator_table_names_clauses_that_are_there(self):
        self.write("spec/tables/operators/unary.toml", '\nclauses = ["KEY-001", "OPER-901"]\n')
        self.assert_errors("unary.toml:2: error: this table names OPER-901, which no chapter holds")

    def test_every_scenario_names_a_clause(self):
        self.write("spec/corpus/keys/loose.scn", "scenario 1 pytorch-1.13\n")
        self.assert_errors("loose.scn:1: error: this scenario names no clause")

    def test_a_scenario_names_the_clause_that_it_is_filed_under(self):
        self.write("spec/corpus/keys/KEY-002-filed.scn", SCENARIO)
        self.assert_errors("filed under KEY-002 and does not name it")

    def test_an_example_stays_with_its_corpus_file(self):
        self.edit("spec/corpus/keys/KEY-001-exact.scn", "[CPU]   => k1", "[CPU]   => k2")
        self.assert_errors("the example of KEY-001 has left KEY-001-exact: it lacks (in order) 'call demo::f [CPU] => k1'")
        (self.root / "spec/corpus/keys/KEY-001-exact.scn").unlink()
        errors = self.index().errors
        self.assertIn("KEY-001 links to ../corpus/keys/KEY-001-exact.scn, which is not there", errors[0])

    def test_a_clause_has_text_example_and_note(self):
        self.edit("spec/clauses/01-keys.md", "*PyTorch* differs.", "")
        self.assert_errors("KEY-002 needs an *Example* and, after it, a *PyTorch* note")

    def test_what_code_cites_elsewhere_exists(self):
        self.write("reference/registry/registry.cc", "int x;  // [REG-001]\n")
        self.write("conformance/cli/explain.cc", 'Cite("REG-002");\n')
        self.assert_errors("registry.cc:1: error: this line names REG-001", "explain.cc:1: error: this line names REG-002")

    def test_a_fault_stands_once(self):
        self.edit("reference/faults/fault_list.h", "#define PLUMBLINE_FAULTS(X)",
                  '#define OTHER(X) X(case_is_ignored, "KEY-001", "again")\n#define PLUMBLINE_FAULTS(X)')
        self.assert_errors("the fault case_is_ignored stands twice")

    # ---- what is not compiled or not shown names nothing ----

    def test_a_test_that_is_commented_out_is_no_test(self):
        for before, after in (("// ", ""), ("/* ", "*/"), ("/*\n", "\n*/"),
                              ('const char* s = "/*"; // "\n// \\\n', "")):
            with self.subTest(before):
                self.write("conformance/suites/keys.cc", SUITE + 'PL_CASE("keys", "more", PL_CLAUSES("KEY-001")) {}\n')
                self.write_manifest()
                self.write("conformance/suites/keys.cc", SUITE + before +
                           'PL_CASE("keys", "more", PL_CLAUSES("KEY-001")) {}' + after + "\n")
                self.assert_vanished("the property keys/more vanished, which named KEY-001")

    def test_a_test_does_not_depend_on_a_condition(self):
        for before, after in (("#if 0\n", "\n#endif"), ("# if 1\n", "\n#endif"), ("#ifdef X\n", "\n#endif"),
                              ("  #ifndef X\n", "\n#endif"), ("#if 0\n#ifdef X\n#else\n", "\n#endif\n#endif")):
            with self.subTest(before):
                self.write("conformance/suites/keys.cc", SUITE + before +
                           'PL_CASE("keys", "more", PL_CLAUSES("KEY-001")) {}' + after + "\n")
                self.assertIn("a case must not depend on a condition of the preprocessor", self.index().errors[0])

    def test_a_test_that_is_compiled_is_one(self):
        for before, after in (("", "  // why"),
                              ('const char* s = "//"; ', ""), ("const char* s = \"/*\"; const char c = '\"';\n", ""),
                              ("const int thousand = 1'000; ", ""), ('const char* s = R"(" /* )";\n', "")):
            with self.subTest(before):
                self.write("conformance/suites/keys.cc", SUITE + before +
                           'PL_CASE("keys", "more", PL_CLAUSES("KEY-001")) {}' + after + "\n")
                index = self.index()
                self.assertEqual(index.errors, [])
                self.assertIn(("property", "keys/more"), index.clauses["KEY-001"].links)

    def test_a_fault_that_is_commented_out_or_left_out_is_no_fault(self):
        for before, after in (("// ", ""), ("/* ", " */"), ("#if 0\n", "\n#endif")):
            with self.subTest(before):
                self.write("reference/faults/fault_list.h", FAULTS)
                self.write("reference/faults/more.h", '#define MORE(X) X(other, "KEY-001", "more")\n')
                self.write_manifest()
                self.write("reference/faults/more.h", before + '#define MORE(X) X(other, "KEY-001", "more")' + after + "\n")
                self.assert_vanished("the fault other vanished, which named KEY-001")

    def test_a_model_line_that_is_left_out_is_none(self):
        self.write("spec/model/keys.cc", MODEL.replace("int b", "#if 0\nint b") + "#endif\n")
        index = self.index()
        self.assertEqual(index.clauses["KEY-001"].model, ["spec/model/keys.cc:1"])
        self.assertIn("KEY-002 is named by no line of spec/model", index.warnings[0])

    def test_a_clause_that_no_reader_sees_is_none(self):
        self.write_manifest()
        self.edit("spec/clauses/01-keys.md", "### KEY-002", "<!--\n### KEY-002")
        self.write("spec/clauses/01-keys.md", (self.root / "spec/clauses/01-keys.md").read_text(encoding="utf-8") + "-->\n")
        self.edit("conformance/suites/keys.cc", '"KEY-002",', "")
        self.edit("spec/model/keys.cc", " [KEY-002]", "")
        self.assert_vanished("the clause KEY-002 vanished")

    # ---- the manifest ----

    def test_a_weaker_clause_is_an_error(self):
        self.write_manifest()
        self.edit("spec/clauses/01-keys.md", "`MUST`", "`SHOULD`")
        self.assert_vanished("manifest.txt:3: error: KEY-001 was MUST and is SHOULD; put it back")
        self.edit("spec/clauses/01-keys.md", "`SHOULD` · profile core", "`MUST` · profile core")
        self.assert_vanished("manifest.txt:3: error: KEY-001 was SHOULD and is MUST")

    def write_manifest(self):
        self.write(clause_index.MANIFEST, self.index().manifest())

    def manifest_errors(self):
        index = clause_index.Index(self.root, "error")
        index.run()
        index.check_manifest()
        return index.errors

    def assert_vanished(self, *parts):
        errors = self.manifest_errors()
        self.assertEqual(len(errors), len(parts), errors)
        for error, part in zip(errors, parts):
            self.assertIn(part, error)
            self.assertIn("if that is meant, run `python3 spec/clauses/clause_index.py --write-manifest`", error)
        self.write_manifest()
        self.assertEqual(self.manifest_errors(), [])

    def add_second_links(self):
        """So that whatever goes away below, all else is still sound."""
        self.write("spec/corpus/keys/KEY-001-again.scn", SCENARIO)
        self.edit("conformance/suites/keys.cc", "{}", '{}\nPL_CASE("keys", "more", PL_CLAUSES("KEY-002", "KEY-001")) {}')
        self.edit("reference/faults/fault_list.h", "in any case\")", 'in any case") \\\n  X(other, "KEY-001", "another")')
        self.write_manifest()
        self.assertEqual(self.manifest_errors(), [])

    def test_the_manifest_lists_every_link_in_order(self):
        self.add_second_links()
        self.assertEqual((self.root / clause_index.MANIFEST).read_text(encoding="utf-8"), clause_index.MANIFEST_HEAD +
                         "KEY-001 MUST\n  scenario keys/KEY-001-again.scn\n  scenario keys/KEY-001-exact.scn\n"
                         "  property keys/more\n  property keys/sets\n  fault case_is_ignored\n  fault other\n"
                         "KEY-002 SHOULD\n  property keys/more\n  property keys/sets\n")

    def test_one_of_several_scenarios_vanishes(self):
        self.add_second_links()
        (self.root / "spec/corpus/keys/KEY-001-again.scn").unlink()
        self.assert_vanished("manifest.txt:4: error: the scenario keys/KEY-001-again.scn vanished, which named KEY-001")

    def test_a_scenario_stops_naming_one_of_its_clauses(self):
        self.write("spec/corpus/keys/both.scn", SCENARIO.replace("KEY-001", "KEY-001 KEY-002"))
        self.write_manifest()
        self.edit("spec/corpus/keys/both.scn", "KEY-001 KEY-002", "KEY-001")
        self.assert_vanished("the scenario keys/both.scn no longer names KEY-002")

    def test_one_of_several_properties_of_a_clause_vanishes(self):
        self.add_second_links()
        self.edit("conformance/suites/keys.cc", '"more", PL_CLAUSES("KEY-002", "KEY-001")', '"more", PL_CLAUSES("KEY-002")')
        self.assert_vanished("the property keys/more no longer names KEY-001")
        self.edit("conformance/suites/keys.cc", 'PL_CASE("keys", "more", PL_CLAUSES("KEY-002")) {}', "")
        self.assert_vanished("the property keys/more vanished, which named KEY-002")

    def test_one_of_several_faults_vanishes(self):
        self.add_second_links()
        self.edit("reference/faults/fault_list.h", 'X(other, "KEY-001", "another")', "")
        self.assert_vanished("the fault other vanished, which named KEY-001")

    def test_a_clause_vanishes_with_all_who_name_it(self):
        text = (self.root / "spec/clauses/01-keys.md").read_text(encoding="utf-8")
        self.write_manifest()
        self.write("spec/clauses/01-keys.md", text[: text.index("### KEY-002")])
        self.edit("conformance/suites/keys.cc", '"KEY-002",', "")
        self.edit("spec/model/keys.cc", " [KEY-002]", "")
        self.assert_vanished("the clause KEY-002 vanished")

    def test_what_is_new_is_to_be_listed(self):
        self.assertIn("there is no manifest", self.manifest_errors()[0])
        self.write_manifest()
        self.write("spec/corpus/keys/KEY-001-again.scn", SCENARIO)
        errors = self.manifest_errors()
        self.assertEqual(len(errors), 1)
        self.assertIn("1 new entry is not listed (KEY-001 scenario keys/KEY-001-again.scn); list them by", errors[0])

    def test_an_unsound_tree_is_not_written_into_the_manifest(self):
        self.write_manifest()
        before = (self.root / clause_index.MANIFEST).read_text(encoding="utf-8")
        (self.root / "spec/corpus/keys/KEY-001-exact.scn").unlink()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(clause_index.main(["--root", str(self.root), "--write-manifest"]), 1)
        self.assertEqual((self.root / clause_index.MANIFEST).read_text(encoding="utf-8"), before)

    def test_an_empty_tree_is_an_error(self):
        with tempfile.TemporaryDirectory() as empty:
            index = clause_index.Index(empty)
            index.run()
            self.assertIn("no chapter holds a clause", index.errors[0])

    def test_the_program_writes_only_when_sound(self):
        output = self.root / "out/clauses.json"
        arguments = ["--root", str(self.root), "--output", str(output), "--faults", "error"]
        self.write_manifest()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as stderr:
            self.assertEqual(clause_index.main(arguments), 0)
            self.assertEqual(len(json.loads(output.read_text(encoding="utf-8"))["clauses"]), 2)
            output.unlink()
            self.edit("conformance/suites/keys.cc", '"KEY-002",', "")
            self.assertEqual(clause_index.main(arguments), 1)
            self.assertFalse(output.exists())
        self.assertIn("KEY-002 has no test", stderr.getvalue())


if __name__ == "__main__":
    unittest.main()
