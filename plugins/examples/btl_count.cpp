// SPDX-License-Identifier: BSD-3-Clause
// btl/count: counts what passes through any other btl, and delays each packet. Usage: --mca btl_wrap count
#include "core/component/describe.h"
#include "core/core.h"
#include "core/log.h"
#include "frameworks/btl/forward.h"
#include "frameworks/context.h"

#include <chrono>
#include <cstdio>

using namespace patchbay;

namespace {

constexpr ParamSpec params[] = {
    {"delay", ParamType::duration, "0us", "time by which each packet is sent later; its sender waits for it"},
    {"print", ParamType::boolean, "true", "whether each process prints its counts at the end"},
};

struct Settings {
    std::chrono::nanoseconds delay{0};
    bool print = true;
};

// The lock of the transports serializes all calls, so that plain numbers do. One-sided operations pass uncounted.
class CountModule final : public btl::Forward {
public:
    CountModule(std::unique_ptr<btl::Module> wrapped, const Settings& settings)
        : Forward(std::move(wrapped)),
          _settings(settings) {}
    ~CountModule() override {
        if (_settings.print && _sent + _arrived + _fetched > 0) {
            char text[200];
            std::snprintf(text, sizeof text,
                "btl/count: %s sent %llu packets with %llu bytes, delivered %llu packets, fetched %llu bytes, was full "
                "%llu times",
                name(), _sent, _sent_bytes, _arrived, _fetched, _full);
            log_warn(text);
        }
    }

    btl::SendCode send(btl::Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override {
        wait();
        return count(wrapped().send(to, header, header_size, payload, payload_size), payload_size);
    }
    btl::SendCode commit(
        btl::Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept override {
        wait();
        return count(wrapped().commit(to, header, header_size, payload_size), payload_size);
    }
    std::ptrdiff_t get(btl::Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept override {
        const std::ptrdiff_t bytes = wrapped().get(from, remote, local);
        _fetched += bytes > 0 ? static_cast<unsigned long long>(bytes) : 0;
        return bytes;
    }
    int poll() noexcept override {
        const int packets = wrapped().poll();
        _arrived += static_cast<unsigned long long>(packets);
        return packets;
    }

private:
    void wait() const noexcept {
        if (_settings.delay.count() > 0) {
            const auto end = std::chrono::steady_clock::now() + _settings.delay;
            while (std::chrono::steady_clock::now() < end) {
            }
        }
    }
    btl::SendCode count(btl::SendCode code, std::size_t bytes) noexcept {
        if (code == btl::SendCode::ok) {
            ++_sent;
            _sent_bytes += bytes;
        }
        _full += code == btl::SendCode::full;
        return code;
    }

    const Settings _settings;
    unsigned long long _sent = 0;
    unsigned long long _sent_bytes = 0;
    unsigned long long _arrived = 0;
    unsigned long long _fetched = 0;
    unsigned long long _full = 0;
};

class CountComponent final : public btl::Component {
public:
    Status open(Core& core) override {
        _settings.delay = core.params.at("btl_count_delay").as_duration();
        _settings.print = core.params.at("btl_count_print").as_bool();
        return {};
    }
    Capability capabilities() const noexcept override { return Capability::thread_multiple | Capability::sessions; }
    Result<btl::Candidate> query(Context&) override {
        return Error{Errc::not_available, "it only wraps other btls (btl_wrap=count)"};
    }
    Status wrap(Context&, std::unique_ptr<btl::Module>& module) override {
        auto* counting = new (std::nothrow) CountModule(std::move(module), _settings);
        if (counting == nullptr) {
            return Error{Errc::out_of_memory, "no memory for a module"}; // `module` has not been moved from
        }
        module.reset(counting);
        return {};
    }

private:
    Settings _settings;
};

} // namespace

PATCHBAY_COMPONENT = describe<CountComponent>(
    "btl", btl::interface_version, "count", "1.0.0", "counts and delays the packets of another btl", params);
