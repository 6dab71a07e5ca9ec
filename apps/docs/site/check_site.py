"""Checks a built site: check_site.py SITE LIBRARY PROGRAM. Every link within it leads somewhere, and it has every public name:
types, concepts, constants and functions by the text of the headers, members by the library's exported symbols, the
Python package's by its list, and the commands' flags by `spargo help`. Before Sphinx, check_site.py --pages FOLDER LIBRARY
PROGRAM: the pages that it would read (FOLDER/pages, with FOLDER/xml) name those of C++ and the flags."""

import html.parser
import pathlib
import re
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree
import zlib

DECLARED = re.compile(
    r"^(?:template <.*> )?(?:inline )?(?:(?:class|struct|enum class|concept|using|namespace)|(?:constexpr [\w:<>* ]+))"
    r" (?:SPARGO_EXPORT )?(\w+)(?: final)?(?= [{:=]|;|$)"
    r"|^(?:\[\[nodiscard\]\] )?(?:SPARGO_\w+ |inline |constexpr )*[\w:<>,&* ]+?[ &*>](\w+)\((?!.*-> \w+<)"
)


def names_of_header(text: str) -> set[str]:
    """Names that stand at the beginning of a line in the namespace spargo, whose contents clang-format does not indent."""
    names = set()
    hidden = None
    for line in text.partition("\nnamespace spargo {\n")[2].split("\n"):
        inner = re.match(r"(?:inline )?namespace ([\w:]+) {$", line)
        if inner and inner[1] != "spargo":
            hidden = line
        elif re.match(r"}  // namespace", line):
            hidden = None
        elif hidden is None and (found := DECLARED.match(line)) and not line.startswith(("extern", "namespace", "#", " ")):
            names.add(found[1] or found[2])
    return names


def private_names() -> set[str]:
    """CLASS::NAME of what stands below `private:` in a class: exported symbols do not show that."""
    names = set()
    for header in pathlib.Path("include/spargo").rglob("*.hpp"):
        owner, private = "", False
        for line in header.read_text().split("\n"):
            if opened := re.match(r"(?:class|struct) (?:SPARGO_EXPORT )?(\w+)\b.*{$", line):
                owner, private = opened[1], False
            elif access := re.match(r" (private|protected|public):", line):
                private = access[1] == "private"
            elif private and (found := re.match(r"  [^/]*?(\w+)\(", line)):
                names.add(f"{owner}::{found[1]}")
    return names


def exported(library: str) -> set[str]:
    listing = subprocess.run(["nm", "-DC", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    names = set()
    for line in listing.split("\n"):
        symbol = line[19:]
        while symbol != (symbol := re.sub(r"<[^<>]*>|\([^()]*\)", "", symbol)):
            pass
        name = symbol.removesuffix(" const").split(" ")[-1].split("[")[0]
        parts = name.split("::")
        if parts[0] != "spargo" or "detail" in parts or "operator" in symbol or "~" in name or len(parts) < 2 or not parts[-1]:
            continue
        names.add("::".join(parts))
    return names


def inventory(site: pathlib.Path) -> dict[str, set[str]]:
    """Names of the site by kind, such as cpp and py."""
    data = (site / "objects.inv").read_bytes()
    names: dict[str, set[str]] = {}
    for line in zlib.decompress(data.split(b"\n", 4)[4]).decode().split("\n"):
        if found := re.match(r"(.+?) (\w+):\w+ -?\d+ ", line):
            names.setdefault(found[2], set()).add(found[1])
    return names


def names_of_pages(folder: pathlib.Path) -> dict[str, set[str]]:
    """What `inventory` would find: C++ names by the directives of Breathe and Doxygen's XML, flags by `option`."""
    members: dict[tuple[str, str], list[str]] = {}
    for entry in ElementTree.parse(folder / "xml/index.xml").getroot():
        kind, name = entry.get("kind", ""), entry.findtext("name", "")
        if kind == "file":
            compound = ElementTree.parse(folder / "xml" / f"{entry.get('refid')}.xml").getroot()
            found = [member.findtext("name", "") for member in compound.iter("memberdef")]
        else:
            found = [name] + [f"{name}::{member.findtext('name')}" for member in entry.findall("member")]
        members[kind, name] = found
    names: dict[str, set[str]] = {"cpp": set(), "std": set()}
    for page in folder.glob("pages/reference/cpp/*.rst"):
        for kind, name in re.findall(r"^\.\. doxygen(\w+):: (.+)$", page.read_text(), re.MULTILINE):
            names["cpp"] |= {re.sub(r" <", "<", member) for member in members[kind, name]}
    for page in folder.glob("pages/reference/commands/*.rst"):
        program = ""
        for kind, text in re.findall(r"^\.\. (program|option):: (.+)$", page.read_text(), re.MULTILINE):
            program = text.replace(" ", "-") if kind == "program" else program
            names["std"] |= {f"{program}.{flag}" for flag in re.findall(r"--[a-z][a-z-]*", text)}
    return names


class Page(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        for name, value in attributes:
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def broken_links(site: pathlib.Path) -> list[str]:
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    return broken


def flags_of(program: str) -> set[str]:
    """spargo-COMMAND.FLAG as Sphinx calls them, of every command that the program lists."""
    def output(*words: str) -> str:
        return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout

    flags = set()
    listed = re.findall(r"^\.TP\n.fBspargo.-(.*).fR.1.", output("help", "--man"), re.MULTILINE)
    for command in (name.replace("\\-", "-") for name in listed):
        for line in re.findall(r"^  (-.*?)(?:  |=|$)", output("help", command), re.MULTILINE):
            flags |= {f"spargo-{command}.{flag}" for flag in re.findall(r"--[a-z][a-z-]*", line)}
    return flags


def missing_names(names: dict[str, set[str]], library: str, program: str) -> list[str]:
    # Members of a specialization count for their template.
    cpp = {re.sub(r"<.*>", "", name.removeprefix("spargo::").removeprefix("spargo::")) for name in names["cpp"]}
    missing = []
    headers = [h for h in pathlib.Path("include/spargo").rglob("*") if h.suffix in (".hpp", ".cuh")]
    for header in headers:
        missing += [f"{header}: {name}" for name in names_of_header(header.read_text()) - cpp]
    private = private_names()
    for name in exported(library):
        if "::".join(name.split("::")[-2:]) in private:
            continue
        if name.removeprefix("spargo::") not in cpp:
            missing.append(f"{library}: {name}")
    flags = flags_of(program)
    missing += [f"{program}: {flag}" for flag in flags - names["std"]] + ([] if flags else [f"{program} lists no flags"])
    if "py" not in names:
        return missing
    import spargo

    missing += [f"spargo.csgraph.{n}" for n in spargo.csgraph.__all__ if f"spargo.csgraph.{n}" not in names["py"]]
    missing += [f"spargo.{name}" for name in spargo.__all__ if f"spargo.{name}" not in names["py"] and name != "__version__"]
    for owner in (spargo.Graph, spargo.Matrix):
        public = (name for name in dir(owner) if not name.startswith("_"))
        missing += [n for name in public if (n := f"spargo.{owner.__name__}.{name}") not in names["py"]]
    return missing


if __name__ == "__main__":
    if sys.argv[1] == "--pages":
        found = [f"not on the site: {name}" for name in missing_names(names_of_pages(pathlib.Path(sys.argv[2])), *sys.argv[3:])]
        good = "every public name of C++ and every flag is there"
    else:
        site_folder = pathlib.Path(sys.argv[1]).resolve()
        found = [f"leads nowhere: {link}" for link in broken_links(site_folder)]
        found += [f"not on the site: {name}" for name in missing_names(inventory(site_folder), *sys.argv[2:])]
        good = "every link leads somewhere, and every public name is there"
    print("\n".join(sorted(found)) or good)
    sys.exit(1 if found else 0)
