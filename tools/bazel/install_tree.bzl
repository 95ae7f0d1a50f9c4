# SPDX-License-Identifier: BSD-3-Clause
"""Lays out an installation as one directory: what `./dev install` copies and what every MPI test runs from."""

def _only_file(target):
    files = target[DefaultInfo].files.to_list()
    if len(files) != 1:
        fail("{} should be one file, it is {}".format(target.label, files))
    return files[0]

def _in_our_tree(header):
    return header.owner.workspace_name == ""

def _install_tree_impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    inputs = []

    # One line per entry: kind, destination, source.
    lines = []
    for target, destination in ctx.attr.files.items():
        files = target[DefaultInfo].files.to_list() if destination.endswith("/") else [_only_file(target)]
        for file in files:
            inputs.append(file)
            name = file.basename if destination.endswith("/") else ""
            lines.append("file {}{} {}".format(destination, name, file.path))
    for file in ctx.files.plugins:
        inputs.append(file)
        lines.append("file lib/patchbay/{} {}".format(file.basename, file.path))
    for target in ctx.attr.headers:
        for header in target[CcInfo].compilation_context.headers.to_list():
            line = "file include/patchbay/{} {}".format(header.short_path, header.path)

            # mpi.h is also installed for programs, under another name.
            if _in_our_tree(header) and line not in lines:
                inputs.append(header)
                lines.append(line)
    for target, destination in ctx.attr.templates.items():
        file = _only_file(target)
        inputs.append(file)
        lines.append("text {} {}".format(destination, file.path))
    for destination, target in ctx.attr.links.items():
        lines.append("link {} {}".format(destination, target))

    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest")
    ctx.actions.write(manifest, "\n".join(lines) + "\n")
    ctx.actions.run_shell(
        outputs = [out],
        inputs = inputs + [manifest],
        mnemonic = "InstallTree",
        command = """
set -eu
# The pages of docs/ are not where the links of other pages have them.
links() {
    case $1 in
        share/doc/patchbay/*.md) sed 's|](docs/|](|g' "$2" ;;
        share/patchbay/*/*.md) sed 's|]([.][.]/docs/|](../../doc/patchbay/|g' "$2" ;;
        *) cat "$2" ;;
    esac
}
while read -r kind destination source; do
    mkdir -p "$1/$(dirname "$destination")"
    case $kind:$destination in
        file:*.md) links "$destination" "$source" >"$1/$destination" ;;
        file:*) cp -L "$source" "$1/$destination" ;;
        text:*) sed "s/@VERSION@/$3/g" "$source" >"$1/$destination" ;;
        link:*) ln -s "$source" "$1/$destination" ;;
    esac
    case $kind:$destination in
        link:*) ;;
        *:bin/*) chmod 755 "$1/$destination" ;;
        *) chmod 644 "$1/$destination" ;;
    esac
done <"$2"
""",
        arguments = [out.path, manifest.path, ctx.attr.version],
        # A cache would turn the links into copies.
        execution_requirements = {"no-cache": "1", "no-sandbox": "1"},
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

install_tree = rule(
    implementation = _install_tree_impl,
    doc = "One directory artifact that holds an installation.",
    attrs = {
        "files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "file -> where it goes; a folder, with a trailing slash, takes several and keeps their names",
        ),
        "templates": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "as files, and @VERSION@ in the text is replaced",
        ),
        "plugins": attr.label_list(
            allow_files = True,
            doc = "components, into lib/patchbay/",
        ),
        "headers": attr.label_list(
            providers = [CcInfo],
            doc = "libraries whose headers, with all that these include, go to include/patchbay/ under their own paths",
        ),
        "links": attr.string_dict(
            doc = "link -> its target",
        ),
        "version": attr.string(mandatory = True),
    },
)
