// SPDX-License-Identifier: BSD-3-Clause
#include "launch/messages.h"

#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

namespace patchbay::launch {

namespace {

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
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void field(T& value) {
        const std::string_view bytes = take(sizeof value);
        if (ok) {
            std::memcpy(&value, bytes.data(), sizeof value);
        }
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

void fields(auto& a, Is<Setup> auto& m) {
    each(a, m.group_prefix, m.timing);
}
void fields(auto& a, Is<Program> auto& m) {
    each(a, m.path, m.argv, m.working_directory, m.environment);
}
void fields(auto& a, Is<JobLayout::App> auto& m) {
    each(a, m.first_rank, m.size, m.command, m.working_directory);
}
void fields(auto& a, Is<JobLayout::Pset> auto& m) {
    each(a, m.name, m.ranks, m.is_listed);
}
void fields(auto& a, Is<JobLayout::Process> auto& m) {
    each(a, m.nspace, m.rank);
}
void fields(auto& a, Is<JobLayout> auto& m) {
    each(a, m.nspace, m.nonce, m.hostname, m.apps, m.psets, m.ranks, m.slots, m.universe, m.first_node_rank, m.parent,
        m.parent_key);
}
void fields(auto& a, Is<StartJob> auto& m) {
    each(a, m.job, m.layout, m.programs, m.bind_to, m.map_by);
}
void fields(auto& a, Is<PassSignal> auto& m) {
    each(a, m.signal);
}
void fields(auto&, Is<EndAll> auto&) {}
void fields(auto&, Is<KillAll> auto&) {}
void fields(auto&, Is<AnswerAborts> auto&) {}
void fields(auto& a, Is<SpawnAnswer> auto& m) {
    each(a, m.token, m.nspace, m.error);
}
void fields(auto& a, Is<ProcessId> auto& m) {
    each(a, m.job, m.thread, m.rank);
}
void fields(auto& a, Is<AgentReady> auto& m) {
    each(a, m.error, m.hostname, m.cores);
}
void fields(auto& a, Is<JobStarted> auto& m) {
    each(a, m.job);
}
void fields(auto& a, Is<CannotStart> auto& m) {
    each(a, m.job, m.started, m.exit_status, m.text);
}
void fields(auto& a, Is<RankConnected> auto& m) {
    each(a, m.rank);
}
void fields(auto& a, Is<RankFinalized> auto& m) {
    each(a, m.rank);
}
void fields(auto& a, Is<RankReady> auto& m) {
    each(a, m.rank);
}
void fields(auto& a, Is<RankAborted> auto& m) {
    each(a, m.rank, m.status, m.message);
}
void fields(auto& a, Is<RankEnded> auto& m) {
    each(a, m.rank, m.wait_status);
}
void fields(auto& a, Is<NoRankLeft> auto& m) {
    each(a, m.others_left);
}
void fields(auto& a, Is<AppSpec> auto& m) {
    each(a, m.argv, m.ranks, m.working_directory, m.search_path, m.environment);
}
void fields(auto& a, Is<SpawnRequest> auto& m) {
    each(a, m.token, m.parent, m.apps, m.key);
}

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

template <class Message>
Result<Message> decode_any(std::string_view bytes) {
    constexpr std::size_t kinds = std::variant_size_v<Message>;
    Reader reader(bytes);
    std::uint8_t kind = 0;
    reader.field(kind);
    if (reader.ok && kind < kinds) {
        Message message = make<Message>(kind, std::make_index_sequence<kinds>());
        std::visit([&reader](auto& m) { fields(reader, m); }, message);
        if (reader.at_end()) {
            return message;
        }
    }
    return Error{
        Errc::invalid, "head and agent are of different versions, so that neither can read what the other one sends"};
}

} // namespace

std::string encode(const ToAgent& message) {
    return encode_any(message);
}

std::string encode(const ToHead& message) {
    return encode_any(message);
}

Result<ToAgent> decode_to_agent(std::string_view bytes) {
    return decode_any<ToAgent>(bytes);
}

Result<ToHead> decode_to_head(std::string_view bytes) {
    return decode_any<ToHead>(bytes);
}

} // namespace patchbay::launch
