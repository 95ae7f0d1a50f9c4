// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/param/spec.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// Where a value came from, lowest precedence first.
enum class ParamSource : std::uint8_t { default_value, system_file, user_file, environment, command_line, program };
const char* to_string(ParamSource source);
const char* to_string(ParamType type);
const char* to_string(ParamScope scope);

// One parsed value. Which member counts follows from the parameter's type.
struct ParamValue {
    std::string text; // as it was written
    ParamSource source = ParamSource::default_value;
    std::string origin;             // for people: `file /etc/x.conf:3`, `environment PATCHBAY_MCA_btl`, `default`
    std::int64_t number = 0;        // bool, int, size in bytes, duration in ns, index of the enum's choice
    std::vector<std::string> items; // list
};

// A typed parameter. Lives as long as its registry; its address does not change. Reading is safe from any thread and
// takes no lock; a reference that an accessor returned stays valid after a later set(). The accessor must fit the type.
class Param {
public:
    const std::string& name() const noexcept { return _name; } // full: "btl_sm_eager_limit"
    const std::string& framework() const noexcept { return _framework; }
    const std::string& component() const noexcept { return _component; }
    const std::string& help() const noexcept { return _help; }
    const std::string& default_text() const noexcept { return _default; }
    const std::vector<std::string>& choices() const noexcept { return _choices; } // of an enumeration
    const std::string& range() const noexcept { return _range; } // "lowest..highest"; empty: every value of the type
    ParamType type() const noexcept { return _type; }
    ParamLevel level() const noexcept { return _level; }
    ParamScope scope() const noexcept { return _scope; }

    bool as_bool() const noexcept;
    std::int64_t as_int() const noexcept;
    std::size_t as_size() const noexcept; // bytes
    std::chrono::nanoseconds as_duration() const noexcept;
    const std::string& as_string() const noexcept;
    const std::vector<std::string>& as_list() const noexcept;
    std::size_t as_enum() const noexcept;                              // index into choices()
    std::int64_t as_number() const noexcept { return value().number; } // of every type but string and list

    const std::string& text() const noexcept { return value().text; } // the value as a user would write it, any type
    ParamSource source() const noexcept { return value().source; }
    const std::string& origin() const noexcept { return value().origin; }
    bool is_default() const noexcept { return source() == ParamSource::default_value; }
    bool frozen() const noexcept { return _frozen.load(std::memory_order_acquire); }

private:
    friend class ParamRegistry;
    Param(std::string full_name, std::string_view framework, std::string_view component, const ParamSpec& spec);
    const ParamValue& value() const noexcept { return *_value.load(std::memory_order_acquire); }
    // Errc::invalid: the text is no value of the type, or out of range, which is not checked of a default value.
    Result<ParamValue> parse(std::string_view text, ParamSource source, std::string origin) const;
    Status check_range(std::int64_t number, std::string_view text) const;
    void adopt(ParamValue value);

    std::string _name;
    std::string _framework;
    std::string _component;
    std::string _help;
    std::string _default;
    std::vector<std::string> _choices;
    std::string _range;
    ParamType _type;
    ParamLevel _level;
    ParamScope _scope;
    std::atomic<bool> _frozen = false;
    std::atomic<const ParamValue*> _value = nullptr;
    std::vector<std::unique_ptr<const ParamValue>> _values; // all that were ever current: readers hold no lock
};

} // namespace patchbay
