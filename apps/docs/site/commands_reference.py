"""Pages of the commands from their manual pages: commands_reference.py PROGRAM PAGES.

`spargo help COMMAND --man` writes what `--help` writes, from the same tables, in the little roff that is read here.
"""

import pathlib
import re
import subprocess
import sys


def plain(text: str) -> str:
    return text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def escaped(text: str) -> str:
    """Text of roff as reStructuredText: what a word's punctuation would mean there is taken literally."""
    words = re.split(r"(?<![\w-])(--?[a-z][\w-]*)", plain(text))  # flags are code
    words[::2] = [re.sub(r"([\\*|_`])", r"\\\1", word) for word in words[::2]]
    words[1::2] = [f"\\ ``{flag}``\\ " for flag in words[1::2]]
    return "".join(words)


def title(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n\n"


def option(heading: str) -> str:
    """The directive for '\\fB\\-h\\fR, \\fB\\-\\-help\\fR' or '\\fB\\-\\-device\\fR \\fIDEVICE\\fR'."""
    return f".. option:: {plain(re.sub(r'.f[BIR]', '', heading))}\n\n"


def page_of(roff: str, name: str) -> str:
    text = title(name, "=") + f".. program:: {name}\n\n"
    lines = iter(roff.split("\n"))
    section = ""
    for line in lines:
        if line.startswith(".SH "):
            section = line[4:]
            if section not in ("NAME", "DESCRIPTION"):
                text += "\n" + title(section.capitalize(), "-")
        elif line == ".TP":
            heading, description = next(lines), next(lines)
            if section == "COMMANDS":
                command = plain(re.sub(r".f[BIR]|\(1\)", "", heading)).removeprefix("spargo-")
                text += f":doc:`{command} <{command}>`\n    {escaped(description)}\n\n"
            elif section == "ARGUMENTS":
                text += f"``{plain(re.sub(r'.f[BIR]', '', heading))}``\n    {escaped(description)}\n\n"
            else:
                text += f"{option(heading)}    {escaped(description)}\n\n"
        elif line == ".nf":
            text += ".. code-block:: text\n\n"
            for line in lines:
                if line == ".fi":
                    break
                text += f"   {plain(line)}\n"
            text += "\n"
        elif line == ".PP":
            text += "\n"
        elif section == "NAME" and line:
            summary = plain(line).split(" - ", 1)[1]
            text += summary[0].upper() + summary[1:] + ".\n\n"
        elif section == "SYNOPSIS":
            text += f"``{plain(re.sub(r'.f[BIR]', '', line))}``\n\n"
        elif section == "SEE ALSO" and line:
            command = plain(re.sub(r".f[BIR]|\(1\)|,", "", line))
            text += f":doc:`{command} <{command.removeprefix('spargo-').replace('spargo', 'index')}>` "
        elif not line.startswith("."):
            text += escaped(line) + "\n"
    return text + "\n"


def main(program: str, pages: pathlib.Path) -> None:
    def manual(*command: str) -> str:
        return subprocess.run([program, "help", *command, "--man"], check=True, capture_output=True, text=True).stdout

    pages.mkdir(parents=True, exist_ok=True)
    overview = manual()
    names = [plain(name) for name in re.findall(r"^\.TP\n.fBspargo.-(.*).fR\(1\)", overview, re.MULTILINE)]
    for name in names:
        (pages / f"{name}.rst").write_text(page_of(manual(name), f"spargo {name}"))
    page = page_of(overview[: overview.index(".SH SEE ALSO")], "spargo").replace("spargo\n======", "Commands\n========", 1)
    (pages / "index.rst").write_text(page + ".. toctree::\n   :hidden:\n\n" + "".join(f"   {name}\n" for name in names))


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
