"""Pages of the C++ interface, one for each public header: cpp_reference.py XML PAGES FOLDER..., after Doxygen wrote XML.

Breathe shows a header's classes first, then its enumerations and functions. Doxygen puts functions into the namespace's
file; here they move to their header's, so that Breathe finds them without searching the namespace for every header.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

INHERITED = ("spargo::detail::graph_plan_base", "spargo::detail::power_plan_base")  # members of all plans
ABOUT = {
    "core": "Types, errors, spans, arrays, contexts, threads",
    "primitives": "Reduce, scan, histogram, products, stencils",
    "formats": "Dense and sparse matrices and their conversion",
    "io": "Files, generators, snapshots",
    "sparse": "Products of sparse matrices",
    "solvers": "Linear systems and eigenvalues",
    "graph": "Graphs and their algorithms",
    "distributed": "Several processes and GPUs",
}


def introduction(header: pathlib.Path) -> str:
    """The comment that a header begins with, as reStructuredText; indented lines are a table or a program."""
    text, indented, listed = "", False, False
    for line in header.read_text().split("\n"):
        if not line.startswith("//"):
            break
        line = line[2:].removeprefix(" ")
        listed = line.startswith("- ") or (listed and line.startswith(" "))
        was, indented = indented, line.startswith("  ") and not listed or (indented and not line)
        if indented:
            text += ("" if was else "\n::\n\n") + line + "\n"
        else:
            escaped = re.sub(r"([*|_\\])", r"\\\1", line)
            escaped = re.sub(r"`([^`]*)`", lambda code: "``" + code[1].replace("\\", "") + "``", escaped)
            text += ("\n" if was or line.startswith("- ") else "") + escaped + "\n"
    return text


def public(location: str) -> str:
    """spargo/core/config.hpp, which may be made by the build."""
    return location.rpartition("include/")[2]


def title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def arrange(xml: pathlib.Path) -> tuple[set[str], dict[str, list]]:
    """Moves functions and enumerations from the namespace's file to their headers'; returns the headers that have
    some, and the classes of each header."""
    files = {}
    for path in xml.glob("*_8*.xml"):
        tree = ElementTree.parse(path)
        compound = tree.getroot().find("compounddef")
        files[public(compound.find("location").get("file"))] = (path, tree, compound)
    members: dict[str, list] = {}
    namespace = ElementTree.parse(xml / "namespacespargo.xml").getroot().find("compounddef")
    for section in namespace.findall("sectiondef"):
        for member in section.findall("memberdef"):
            arguments = member.find("argsstring")
            if arguments is not None and arguments.text:  # Sphinx does not know `{.name = value}`
                arguments.text = re.sub(r"([{,] *)\.\w+ *= *", r"\1", arguments.text)
            if "->" not in member.findtext("argsstring", ""):  # deduction guides
                members.setdefault(public(member.find("location").get("file")), []).append((section.get("kind"), member))
    index = ElementTree.parse(xml / "index.xml")
    names = {}
    for file, (path, tree, compound) in files.items():
        names[path.stem] = file
        for tag in ["detaileddescription", "briefdescription", "innernamespace", "innerclass", "sectiondef", "incdepgraph",
                    "invincdepgraph", "includes", "includedby"]:
            for element in compound.findall(tag):
                if element.get("kind") != "define":
                    compound.remove(element)
        for kind, member in sorted(members.get(file, []), key=lambda m: int(m[1].find("location").get("line"))):
            sections = compound.findall("sectiondef")
            if not sections or sections[-1].get("kind") != kind:
                sections.append(ElementTree.SubElement(compound, "sectiondef", kind=kind))
            sections[-1].append(member)
        tree.write(path, encoding="utf-8")
    classes: dict[str, list] = {}
    for entry in index.getroot():
        if entry.get("kind") == "file":
            entry.find("name").text = names[entry.get("refid")]
        elif entry.get("kind") in ("class", "struct", "concept"):
            where = ElementTree.parse(xml / f"{entry.get('refid')}.xml").getroot().find("compounddef/location")
            name = entry.findtext("name")
            if "detail::" not in name or name in INHERITED:
                classes.setdefault(public(where.get("file")), []).append((int(where.get("line")), entry.get("kind"), name))
    index.write(xml / "index.xml", encoding="utf-8")
    with_members = {names[path.stem] for path, _, compound in files.values() if compound.find("sectiondef") is not None}
    return with_members, {file: sorted(c) for file, c in classes.items()}


def main(xml: pathlib.Path, pages: pathlib.Path, *folders: pathlib.Path) -> None:
    with_members, classes = arrange(xml)
    pages.mkdir(parents=True, exist_ok=True)
    layers: dict[str, list[str]] = {layer: [] for layer in ABOUT}
    for name in sorted(with_members | set(classes)):
        header = next(folder / name for folder in folders if (folder / name).exists())
        page = name.replace("/", "_").replace(".", "_")
        layers.setdefault(name.split("/")[1], []).append(f"   {name.removeprefix('spargo/')} <{page}>\n")
        text = title(name) + f"``#include <{name}>``\n\n{introduction(header)}\n\n.. cpp:namespace:: spargo\n\n"
        for _, kind, class_name in classes.get(name, []):
            members = "" if kind == "concept" else "   :members:\n   :undoc-members:\n"
            text += f".. doxygen{kind}:: {class_name}\n{members}\n"
        if name in with_members:
            text += f".. doxygenfile:: {name}\n\n"
        (pages / f"{page}.rst").write_text(text)
    text = title("C++ interface") + ":doc:`/apps/docs/library` begins with a program. ``#include <spargo/spargo.hpp>`` is "
    text += "everything below but the CUDA headers (``.cuh``), Boost's and MPI's.\n\n"
    for layer, entries in layers.items():
        text += title(f"{layer}", "-") + f"{ABOUT.get(layer, layer)}.\n\n.. toctree::\n   :maxdepth: 1\n\n{''.join(entries)}\n"
    (pages / "index.rst").write_text(text)


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
