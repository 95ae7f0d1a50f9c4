// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace patchbay::launch {

// Messages as bytes. A message is a struct; a function `fields(archive, message)` in this namespace lists its members
// once, by each(), for both directions. A set of messages is a std::variant of such structs. The values of an
// enumeration are 0 to `highest_value(Enumeration)`, a function beside it.

// Both have one function template `field` for each kind of value, so that the members of a message are listed once, in
// fields(). Numbers are in the byte order of the machine: the nodes of a job are of one kind.
class Writer {
public:
    template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void field(const T& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); }
    void field(const std::string& text) {
        field(std::uint64_t(text.size()));
        bytes += text;
    }
    std::string bytes;
};

class Reader {
public:
    explicit Reader(std::string_view bytes)
        : _bytes(bytes) {}

    template <class T>
    requires std::is_arithmetic_v<T>
    void field(T& value) {
        const std::string_view bytes = take(sizeof value);
        if (ok) {
            std::memcpy(&value, bytes.data(), sizeof value);
        }
    }
    // Values that the type does not have are no message.
    void field(bool& value) { value = limited<std::uint8_t>(1) != 0; }
    template <class T>
    requires std::is_enum_v<T>
    void field(T& value) {
        using Number = std::underlying_type_t<T>;
        value = T(limited<Number>(Number(highest_value(T()))));
    }
    void field(std::string& text) {
        std::uint64_t size = 0;
        field(size);
        text = take(size);
    }
    bool at_end() const { return ok && _bytes.empty(); }
    std::size_t left() const { return _bytes.size(); }

    bool ok = true;

private:
    template <class Number>
    Number limited(Number highest) {
        Number number = 0;
        field(number);
        ok = ok && number >= 0 && number <= highest;
        return ok ? number : 0;
    }
    std::string_view take(std::uint64_t size) {
        ok = ok && size <= _bytes.size();
        const std::string_view taken = _bytes.substr(0, ok ? size : 0);
        _bytes.remove_prefix(taken.size());
        return taken;
    }

    std::string_view _bytes;
};

template <class Archive, class T>
void put(Archive& archive, T& value);

// The members of each struct; T is const for a Writer.
template <class Archive, class... Members>
void each(Archive& archive, Members&... members) {
    (put(archive, members), ...);
}

template <class T, class Wanted>
concept Is = std::is_same_v<std::remove_const_t<T>, Wanted>;

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsPair : std::false_type {};
template <class A, class B>
struct IsPair<std::pair<A, B>> : std::true_type {};

template <class T>
void put_vector(Writer& writer, const std::vector<T>& values) {
    writer.field(std::uint64_t(values.size()));
    for (const T& value : values) {
        put(writer, value);
    }
}

template <class T>
void put_vector(Reader& reader, std::vector<T>& values) {
    std::uint64_t size = 0;
    reader.field(size);
    // Each value has at least one byte.
    reader.ok = reader.ok && size <= reader.left();
    for (std::uint64_t i = 0; i < size && reader.ok; ++i) {
        put(reader, values.emplace_back());
    }
}

template <class T>
void put_optional(Writer& writer, const std::optional<T>& value) {
    writer.field(value.has_value());
    if (value) {
        put(writer, *value);
    }
}

template <class T>
void put_optional(Reader& reader, std::optional<T>& value) {
    bool there = false;
    reader.field(there);
    if (there) {
        put(reader, value.emplace());
    }
}

template <class Archive, class T>
void put(Archive& archive, T& value) {
    using Plain = std::remove_const_t<T>;
    if constexpr (requires { archive.field(value); }) {
        archive.field(value);
    } else if constexpr (IsVector<Plain>::value) {
        put_vector(archive, value);
    } else if constexpr (IsOptional<Plain>::value) {
        put_optional(archive, value);
    } else if constexpr (IsPair<Plain>::value) {
        each(archive, value.first, value.second);
    } else {
        fields(archive, value);
    }
}

// The struct of a variant by its index, and its members.
template <class Message>
std::string encode_any(const Message& message) {
    Writer writer;
    writer.field(std::uint8_t(message.index()));
    std::visit([&writer](const auto& m) { fields(writer, m); }, message);
    return std::move(writer.bytes);
}

template <class Message, std::size_t... Index>
Message make(std::size_t index, std::index_sequence<Index...>) {
    Message message;
    ((index == Index ? void(message.template emplace<Index>()) : void()), ...);
    return message;
}

// Nothing: the bytes are no such message.
template <class Message>
std::optional<Message> decode_any(std::string_view bytes) {
    constexpr std::size_t kinds = std::variant_size_v<Message>;
    Reader reader(bytes);
    std::uint8_t kind = 0;
    reader.field(kind);
    if (!reader.ok || kind >= kinds) {
        return std::nullopt;
    }
    Message message = make<Message>(kind, std::make_index_sequence<kinds>());
    std::visit([&reader](auto& m) { fields(reader, m); }, message);
    return reader.at_end() ? std::optional(std::move(message)) : std::nullopt;
}

} // namespace patchbay::launch
