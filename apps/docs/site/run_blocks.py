#!/usr/bin/env python3
"""Runs the blocks of code of a page, in order, in a folder of their own: run_blocks.py --work FOLDER PAGE.

A block below a line that ends with "`FILE`:" is written to that file. Otherwise blocks of `sh` are run by bash, and blocks
of `python` share one interpreter; a block of `text` that follows is what they print, where "..." stands for anything. A
block below the comment "<!-- run by TEST -->" is left to that test. `datasets` is there, as in the repository.
"""

import argparse
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[3]
ELSEWHERE = re.compile(r"<!-- run by (\S+) -->")


class Block:
    def __init__(self, line: int, language: str, above: str) -> None:
        self.line, self.language, self.above = line, language, above
        self.text = ""


def blocks_of(page: str) -> list[Block]:
    found: list[Block] = []
    above, block, indent = "", None, 0
    for number, line in enumerate(page.split("\n"), 1):
        fence = re.match(r"( *)```(\w*)", line)
        if fence and block is None:
            block, indent = Block(number, fence[2], above), len(fence[1])
        elif fence:
            found.append(block)
            above, block = "", None
        elif block is not None:
            block.text += line[indent:] + "\n"
        elif line.strip():
            above = line.strip()
    return found


def agrees(printed: str, expected: str) -> bool:
    pattern = ".*?".join(re.escape(" ".join(part.split())) for part in expected.split("..."))
    return re.fullmatch(pattern, " ".join(printed.split()), re.DOTALL) is not None


def run_shell(text: str, folder: pathlib.Path) -> tuple[str, str]:
    """What the block printed, and why it failed if it did."""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout, f"status {done.returncode}" if done.returncode else ""


def run_python(text: str, names: dict) -> tuple[str, str]:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(text, "block", "exec"), names)
    except Exception:
        return printed.getvalue(), traceback.format_exc(limit=-2)
    return printed.getvalue(), ""


def run(page: pathlib.Path, folder: pathlib.Path) -> list[str]:
    names: dict = {"__name__": "__main__"}
    failures = []
    printed = ""
    ran = False  # whether the block before printed something to compare
    for block in blocks_of(page.read_text()):
        where = f"{page}:{block.line}"
        file = re.search(r"`(\w+\.\w+)`:$", block.above)
        if ELSEWHERE.match(block.above):
            ran = False
            continue
        why = ""
        if file:
            (folder / file[1]).write_text(block.text)
        elif block.language == "sh":
            printed, why = run_shell(block.text, folder)
        elif block.language == "python":
            printed, why = run_python(block.text, names)
        elif block.language == "text":
            if not ran:
                failures.append(f"{where}: no block before it prints this")
            elif not agrees(printed, block.text):
                failures.append(f"{where}: printed was\n{printed}")
        else:
            failures.append(f"{where}: a block of '{block.language}' that nothing runs")
        ran = not file and block.language in ("sh", "python")
        if why:
            failures.append(f"{where}: {why}\n{printed}")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", required=True, type=pathlib.Path, help="a folder, made if it is not there")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    flags = parser.parse_args()
    failures = []
    pages, work = [page.resolve() for page in flags.pages], flags.work.resolve()
    for page in pages:
        folder = work / page.stem
        subprocess.run(["rm", "-rf", str(folder)], check=True)
        folder.mkdir(parents=True)
        (folder / "datasets").symlink_to(ROOT / "datasets")
        os.chdir(folder)
        failures += run(page, folder)
        # Pictures that the page shows are those that its blocks draw.
        shown = re.findall(r"!\[[^]]*\]\((\w+\.(?:png|svg))\)", page.read_text())
        failures += [f"{page}: no block draws {name}" for name in shown if not (folder / name).exists()]
    print("\n".join(failures) or f"the blocks of {len(pages)} pages ran")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
