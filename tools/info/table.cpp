// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/table.h"

#include "core/base/strings.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace patchbay::info {

namespace {

constexpr std::size_t line_width = 120; // of a note
constexpr std::size_t narrowest = 16;   // of a column that is made narrower
constexpr std::size_t gap = 2;

std::vector<std::string> lines_of(const std::string& cell, std::size_t width) {
    if (cell.size() <= width) {
        return {cell};
    }
    const std::vector<std::string> lines = split(wrap(cell, "", width), '\n'); // without those that are empty
    return lines.empty() ? std::vector<std::string>{""} : lines;
}

std::size_t longest_word(const std::string& cell) {
    std::size_t longest = 0;
    for (const std::string& word : split(cell, ' ')) {
        longest = std::max(longest, word.size());
    }
    return longest;
}

} // namespace

// Takes from the column that has most to give until the row fits, or none has more.
std::vector<std::size_t> Table::widths(std::size_t columns) const {
    std::vector<std::size_t> widths(_rows.front().cells.size());
    std::vector<std::size_t> spare(widths.size()); // what a column can be narrower
    for (std::size_t i = 0; i < widths.size(); ++i) {
        std::size_t least = narrowest;
        for (const Row& row : _rows) {
            widths[i] = std::max(widths[i], row.cells[i].size());
            least = std::max(least, longest_word(row.cells[i]));
        }
        spare[i] = widths[i] - std::min(widths[i], least);
    }
    std::size_t total = std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
    while (columns > 0 && total > columns) {
        const auto most = std::ranges::max_element(spare);
        if (*most == 0) {
            break;
        }
        --*most;
        --widths[std::size_t(most - spare.begin())];
        --total;
    }
    return widths;
}

std::string Table::lines(const Row& row, const std::vector<std::size_t>& widths) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
        cells.push_back(lines_of(row.cells[i], widths[i]));
        height = std::max(height, cells.back().size());
    }
    std::string text;
    for (std::size_t at = 0; at < height; ++at) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string part = at < cells[i].size() ? cells[i][at] : "";
            line += part + std::string(std::max(widths[i], part.size()) - part.size() + gap, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string Table::text(std::size_t columns) const {
    const std::vector<std::size_t> widths = this->widths(columns);
    const std::size_t note_width = columns == 0 ? line_width : std::min(columns, line_width);
    std::string text;
    for (const Row& row : _rows) {
        text += lines(row, widths) + (row.note.empty() ? "" : wrap(row.note, "    ", note_width));
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
