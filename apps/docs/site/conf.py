"""Sphinx's settings; apps/docs/build.sh lays out the folder that it works in."""

import pathlib
import re
import sys

from sphinx import addnodes

root = pathlib.Path(__file__).resolve().parents[3]  # of the repository
project = "Spargo"
author = "the authors of Spargo"
copyright = "the authors of Spargo, Apache License 2.0"
release = re.search(r"project\(spargo VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())[1]
version = release

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
include_patterns = ["index.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "apps/docs/*.md", "apps/docs/tutorials/*.md",
                    "apps/docs/howto/*.md", "apps/python/README.md", "apps/bench/results/README.md", "reference/**"]
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]
breathe_projects = {"spargo": str(root / "build/docs/xml")}
breathe_default_project = "spargo"
toc_object_entries = False  # a third of the time of a build
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = False
default_role = "code"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"Spargo {release}"
html_static_path = ["static"]
html_css_files = ["spargo.css"]
html_copy_source = False
html_show_sourcelink = False


def in_attributes(app, what, name, obj, skip, options):
    """Leaves out members that the class lists under Attributes, and the fields of tuples, which it lists there too."""
    owner = getattr(obj, "__objclass__", None)
    if isinstance(obj, property):
        owner = getattr(sys.modules[obj.fget.__module__], obj.fget.__qualname__.split(".")[0], None)
    listed = (owner.__doc__ or "").partition("Attributes\n")[2] if owner else ""
    return True if re.search(rf"^\s*(\w+, )*{name}\b.* : ", listed, re.MULTILINE) or is_field(obj) else None


def is_field(obj):
    return type(obj).__name__ == "_tuplegetter"


def without_words(app, tree):
    """Words in the types of NumPy's docstrings ("shape", "file") are no links to members of that name."""
    for link in list(tree.findall(addnodes.pending_xref)):
        if link.get("refdomain") == "py" and link.get("refspecific") and link["reftarget"].islower():
            link.replace_self(link.children)


def setup(app):
    app.connect("doctree-read", without_words)
    app.connect("autodoc-skip-member", in_attributes)
