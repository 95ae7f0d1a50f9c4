# SPDX-License-Identifier: BSD-3-Clause
"""Generates the table of the components that are linked into the library (core/component/static_components.h)."""

_FILE = """// SPDX-License-Identifier: BSD-3-Clause
#include "core/component/static_components.h"

#include <array>

{declarations}
namespace patchbay {{

std::span<const ComponentDescriptor* const> static_components() {{
    static constexpr std::array<const ComponentDescriptor*, {count}> table{{{{{addresses}}}}};
    return table;
}}

}} // namespace patchbay
"""

def _static_table_impl(ctx):
    names = ["patchbay_component_" + component for component in ctx.attr.components]
    ctx.actions.write(ctx.outputs.out, _FILE.format(
        declarations = "".join([
            "extern \"C\" const patchbay::ComponentDescriptor {};\n".format(name)
            for name in names
        ]),
        count = len(names),
        addresses = ", ".join(["&" + name for name in names]),
    ))
    return [DefaultInfo(files = depset([ctx.outputs.out]))]

static_table = rule(
    implementation = _static_table_impl,
    attrs = {
        "components": attr.string_list(doc = "FRAMEWORK_NAME each"),
        "out": attr.output(mandatory = True),
    },
)
