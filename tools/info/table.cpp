// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/table.h"

#include <algorithm>
#include <sstream>

namespace patchbay::info {

namespace {

constexpr std::size_t line_width = 120;

} // namespace

std::string Table::text() const {
    std::vector<std::size_t> widths(_rows.front().cells.size());
    for (const Row& row : _rows) {
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            widths[i] = std::max(widths[i], row.cells[i].size());
        }
    }
    std::string text;
    for (const Row& row : _rows) {
        std::string line;
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            line += row.cells[i] + std::string(widths[i] - row.cells[i].size() + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n" + (row.note.empty() ? "" : wrap(row.note, "    ", line_width));
    }
    return text;
}

std::string wrap(const std::string& text, const std::string& indent, std::size_t width) {
    std::istringstream words(text);
    std::string result;
    std::string line;
    for (std::string word; words >> word;) {
        if (!line.empty() && indent.size() + line.size() + 1 + word.size() > width) {
            result += indent + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return line.empty() ? result : result + indent + line + "\n";
}

} // namespace patchbay::info
