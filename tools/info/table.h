// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/terminal.h"

#include <cstddef>
#include <string>
#include <vector>

namespace patchbay::info {

// Rows under a header, every column as wide as its widest cell. A note is indented on its own lines below its row.
// Where a terminal is narrower, the cells of the widest columns are broken between words into several lines; a file or
// a pipe has one line for each row.
class Table {
public:
    explicit Table(std::vector<std::string> head)
        : _rows{{std::move(head), {}}} {}

    void add(std::vector<std::string> cells, std::string note = {}) {
        _rows.push_back({std::move(cells), std::move(note)});
    }
    std::string text() const { return text(terminal_columns()); }
    std::string text(std::size_t columns) const; // 0: there is no limit

private:
    struct Row {
        std::vector<std::string> cells;
        std::string note;
    };
    std::vector<std::size_t> widths(std::size_t columns) const;
    static std::string lines(const Row& row, const std::vector<std::size_t>& widths);

    std::vector<Row> _rows; // the first is the head
};

// Breaks a text between words so that no line is longer than `width`; every line begins with `indent`.
std::string wrap(const std::string& text, const std::string& indent, std::size_t width);

} // namespace patchbay::info
