"""The tables of layout vectors in tests/data, through the driver that evaluates them."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import BUILD, expect, main, test

DRIVER = BUILD / "tests/layout/vectors"
DATA = Path(__file__).parent.parent / "data"


def vectors(text, should):
    """A table, and what the driver says of it, with exit code 1."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        file.write(text)
        file.flush()
        expect([file.name], code=1, tool=DRIVER, out=should and should.replace("FILE", file.name))


def check(name, count):
    expect([DATA / name], out=f"{count} passed, 0 failed\n", tool=DRIVER)


@test
def xla_shapes():
    check("xla_vectors.tsv", 239)


@test
def xla_refused():
    check("xla_bad_strings.tsv", 45)


@test
def sizes_that_compilers_reported():
    check("xla_reported_sizes.tsv", 23)


@test
def cute():
    check("vectors_cute.tsv", 374)


@test
def axe():
    check("vectors_axe.tsv", 294)


@test
def index_maps():
    check("vectors_indexmap.tsv", 198)


@test
def layouts_that_the_tpu_compiler_gives():
    check("tpu_layouts.tsv", 5000)
    head = "chips\ttype\tdims\tlayout\tbytes\n"
    vectors(head + "v5e\tf32\t3,200\t0,1:T(8,128)\t4096\n",
            "FILE:2: v5e: v5e: found f32[3,200]{1,0:T(4,128)}, expected f32[3,200]{0,1:T(8,128)}; \n0 passed, 1 failed\n")
    vectors(head + "all\tf99\t3\t0\t4\n", None)


@test
def all_files_are_counted_together():
    files = [DATA / "xla_vectors.tsv", DATA / "xla_bad_strings.tsv"]
    expect(files, out="284 passed, 0 failed\n", tool=DRIVER)


@test
def mismatches_are_seen():
    head = "\t".join(["shape_string", "logical_index", "expected_element_offset",
                      "expected_total_elements_with_padding", "expected_bytes"]) + "\n"
    vectors(head + "f32[3,5]{1,0:T(2,2)}\t2,3\t18\t23\t96\tnote\nf32[2]\t1\t1\t2\t8\n",
            "FILE:2: f32[3,5]{1,0:T(2,2)}: expected_total_elements_with_padding: found 24, expected 23; "
            "expected_element_offset: found 17, expected 18\n1 passed, 1 failed\n")
    vectors(head + "f32[3\t-\t-\t-\t-\n",
            "FILE:2: f32[3: refused: found the end, expected ',' or ']'\n0 passed, 1 failed\n")
    vectors(head + "f32[3]\t3\t3\t3\t12\n",
            "FILE:2: f32[3]: logical_index: '3' is not in the array\n0 passed, 1 failed\n")


@test
def what_is_wrongly_accepted_is_seen():
    vectors("text\treason\nf32[8]\tnone\n",
            "FILE:2: f32[8]: accepted, expected an error\n0 passed, 1 failed\n")


@test
def wrong_operations_are_seen():
    vectors("# CuTe\n# id\top\ta\tb\texpect\nx1\tsize\t(2,3)\t\t7\nx2\tsize\t(2,,\t\t6\n",
            "FILE:3: x1: size: found 6, expected 7\n"
            "FILE:4: x2: size: found an error: found ',', expected an integer, "
            "expected 6\n0 passed, 2 failed\n")


@test
def a_table_of_no_kind_fails():
    vectors("name\tvalue\n1\t2\n",
            "FILE: the header is of no known kind of table\n0 passed, 1 failed\n")
    vectors("text\treason\n", "FILE: no rows\n0 passed, 1 failed\n")
    expect(["/nonexistent/x.tsv"], code=1, tool=DRIVER, out=None)


main()
