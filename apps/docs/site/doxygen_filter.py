"""Copies the public headers for Doxygen, which takes our plain `//` comments as documentation then:
doxygen_filter.py FROM... TO.

A comment before a declaration, or behind it in its line, documents it; comments inside function bodies stay as they are.
"""

import pathlib
import re
import sys

SCOPES = re.compile(r"\b(namespace|class|struct|enum|union)\b(?!.*\boperator\b)|\bextern\s*$")
NO_DOCUMENTATION = re.compile(r"\s*(NOLINT|namespace |clang-format )")
CODE = re.compile(r"`([^`]*)`")
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'')


def escaped(text: str) -> str:
    """Text without commands, links or tags of Doxygen; backquoted words are code."""
    parts = CODE.split(text)
    for k, part in enumerate(parts):
        part = re.sub(r"([\\@<>&#%$])", r"\\\1", part)
        parts[k] = f"<code>{part}</code>" if k % 2 else part.replace("::", "\\::")
    return "".join(parts)


def comment_at(line: str) -> int:
    """Where the comment of a line begins; the line's length without one."""
    at = LITERAL.sub(lambda literal: "_" * len(literal[0]), line).find("//")
    return len(line) if at < 0 else at


class Scopes:
    """Whether a place is between declarations, that is in no function's body and no initializer."""

    def __init__(self) -> None:
        self.stack: list[bool] = []
        self.parentheses = 0
        self.before = ""

    def declarations(self) -> bool:
        return all(self.stack) and self.parentheses == 0

    def pass_over(self, code: str) -> None:
        if code.lstrip().startswith("#"):
            return
        for c in LITERAL.sub("_", code):
            if c == "{":
                self.stack.append(SCOPES.search(self.before) is not None and "(" not in self.before)
                self.before = ""
            elif c == "}":
                self.stack.pop()
                self.before = ""
            elif c == ";" and self.parentheses == 0:
                self.before = ""
            else:
                self.parentheses += (c == "(") - (c == ")")
                self.before += c
        self.before += " "


def documented(lines: list[str]) -> list[str]:
    scopes = Scopes()
    out = []
    trailing = -1  # column of the comment behind the last declaration
    head = True
    for line in lines:
        at = comment_at(line)
        code, comment = line[:at], line[at + 2 :]
        if head and not code.strip():
            out.append(("/// \\file\n/// " if not out else "/// ") + escaped(comment.strip()) if at < len(line) else "")
            continue
        head = False
        if at == len(line) or NO_DOCUMENTATION.match(comment) or not scopes.declarations():
            out.append(code if scopes.declarations() else line)
            trailing = -1
            scopes.pass_over(code)
            continue
        begins = not scopes.before.strip()
        scopes.pass_over(code)
        if code.strip() and not scopes.declarations():  # it opens a body: documented before it
            if begins:
                out.append(f"/// {escaped(comment.strip())}")
            out.append(code)
            trailing = -1
        elif code.strip():
            trailing = at
            out.append(f"{code}///< {escaped(comment.strip())}")
        elif at == trailing:
            out.append(f"{code}///< {escaped(comment.strip())}")
        else:
            trailing = -1
            out.append(f"{code}/// {escaped(comment.strip()) if not comment.startswith('  ') else escaped(comment)}")
    return verbatim(out)


def verbatim(lines: list[str]) -> list[str]:
    """Lines of documentation that are indented, and not by a list, are a table or a program."""
    out = []
    inside = listed = False
    for line in lines:
        comment = re.match(r"( *///)( *)(\S?)", line)
        listed = comment is not None and (comment[3] == "-" and len(comment[2]) == 1 or listed and len(comment[2]) != 1)
        wanted = comment is not None and len(comment[2]) > 2 and not listed or inside and line.strip() == "///"
        if wanted != inside:
            out.append(f"{(comment or previous)[1]} \\{'verbatim' if wanted else 'endverbatim'}")
        previous = comment
        inside = wanted
        out.append(re.sub(r"\\(.)", r"\1", line) if wanted else line)
    return out


if __name__ == "__main__":
    *sources, target = map(pathlib.Path, sys.argv[1:])
    for source in sources:
        for header in [*source.rglob("spargo/**/*.hpp"), *source.rglob("spargo/**/*.cuh")]:
            copy = target / header.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text("\n".join(documented(header.read_text().split("\n"))))
