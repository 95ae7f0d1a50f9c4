// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/json_lines.h"

#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace patchbay::coll::tuned {

namespace {

using Json = nlohmann::json;

// Values are destroyed by recursion. A decision table has four levels.
constexpr std::size_t deepest = 100;

// Reads a text and counts its lines. The parser reads one character beyond a number, so that what counts is the line of
// the last character that is not white space.
class Reader {
public:
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;
    using iterator_category = std::input_iterator_tag;

    Reader(const char* position, int* line) noexcept
        : _position(position),
          _line(line) {}
    reference operator*() const noexcept {
        if (std::isspace(static_cast<unsigned char>(*_position)) == 0) {
            *_line = _current;
        }
        return *_position;
    }
    Reader& operator++() noexcept {
        _current += *_position == '\n' ? 1 : 0;
        ++_position;
        return *this;
    }
    Reader operator++(int) noexcept {
        Reader before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Reader& other) const noexcept { return _position == other._position; }
    bool operator!=(const Reader& other) const noexcept { return !(*this == other); }

private:
    const char* _position;
    int* _line;
    int _current = 1;
};

// Builds the value from the events of the parser.
class Builder : public nlohmann::json_sax<Json> {
public:
    explicit Builder(const int& line) noexcept
        : _line(line) {}

    bool null() override { return add(JsonValue::Kind::null) != nullptr; }
    bool boolean(bool value) override {
        add(JsonValue::Kind::boolean)->boolean = value;
        return true;
    }
    bool number_integer(number_integer_t) override { return refuse("a number is negative"); }
    bool number_unsigned(number_unsigned_t value) override {
        add(JsonValue::Kind::number)->number = value;
        return true;
    }
    bool number_float(number_float_t, const string_t&) override { return refuse("a number has a fraction"); }
    bool string(string_t& value) override {
        add(JsonValue::Kind::text)->text = value;
        return true;
    }
    bool binary(binary_t&) override { return refuse("binary data"); }
    bool start_object(std::size_t) override { return open(JsonValue::Kind::object); }
    bool key(string_t& name) override {
        _key = name;
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(JsonValue::Kind::array); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t, const std::string& token, const nlohmann::detail::exception&) override {
        return refuse("this is no JSON: '" + token + "'");
    }

    JsonValue root;
    std::string error;
    int error_line = 0;

private:
    // Values stand in their parents; a pointer to one is valid as long as the parent gets no other one, which is so
    // while it is open.
    JsonValue* add(JsonValue::Kind kind) {
        JsonValue* value = &root;
        if (!_open.empty()) {
            JsonValue& parent = *_open.back();
            if (parent.kind == JsonValue::Kind::object) {
                value = &parent.members.emplace_back(JsonMember{_key, {}}).value;
            } else {
                value = &parent.items.emplace_back();
            }
        }
        value->kind = kind;
        value->line = _line;
        return value;
    }
    bool open(JsonValue::Kind kind) {
        if (_open.size() == deepest) {
            return refuse("arrays and objects are nested too deeply");
        }
        _open.push_back(add(kind));
        return true;
    }
    bool close() {
        _open.pop_back();
        return true;
    }
    bool refuse(std::string text) {
        error = std::move(text);
        error_line = _line;
        return false;
    }

    const int& _line;
    std::string _key;
    std::vector<JsonValue*> _open;
};

} // namespace

Result<JsonValue> parse_json(std::string_view text, const std::string& file) {
    int line = 1;
    Builder builder(line);
    const Reader begin(text.data(), &line);
    const Reader end(text.data() + text.size(), &line);
    if (!Json::sax_parse(begin, end, &builder)) {
        return Error{Errc::invalid, file + ":" + std::to_string(builder.error_line) + ": " + builder.error};
    }
    return std::move(builder.root);
}

} // namespace patchbay::coll::tuned
