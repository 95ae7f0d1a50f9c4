// SPDX-License-Identifier: BSD-3-Clause
// pml/matrix: counts the messages and bytes that each rank sends to each other one, over any other pml. Rank 0 prints
// the matrix at the end, and draws it. Usage: --mca pml_wrap matrix --mca pml_matrix_file matrix.svg A persistent send
// counts once, when it is constructed: MPI_Start does not pass through a pml.
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/log.h"
#include "core/runtime/runtime.h"
#include "frameworks/context.h"
#include "frameworks/pml/forward.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

using namespace patchbay;

namespace {

constexpr ParamSpec params[] = {
    {"file", ParamType::string, "", "SVG file that rank 0 writes with the matrix as a picture; empty: none"},
};

struct Cell { // what one rank sends to another one
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};
using Row = std::vector<Cell>; // by the receiver's rank in the job

class MatrixModule final : public pml::Forward {
public:
    MatrixModule(std::unique_ptr<pml::Module> wrapped, Runtime& runtime, std::string file, Row row) noexcept
        : Forward(std::move(wrapped)),
          _runtime(runtime),
          _file(std::move(file)),
          _row(std::move(row)) {}
    // All processes publish their rows; rank 0 waits for them.
    ~MatrixModule() override {
        const std::string key = "matrix " + std::to_string(_runtime.lifetime());
        if (!_runtime.put(key, std::as_bytes(std::span(_row))) || !_runtime.commit() || _runtime.rank() != 0) {
            return;
        }
        std::vector<Row> rows(_row.size(), _row);
        for (std::uint32_t rank = 1; rank < rows.size(); ++rank) {
            if (const auto bytes = _runtime.get({own_job, rank}, key)) {
                std::memcpy(rows[rank].data(), bytes.value().data(), bytes.value().size());
            } else {
                log_error("pml/matrix: no row of rank " + std::to_string(rank) + ": " + bytes.error().text);
            }
        }
        report(rows);
    }

    int send(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, pml::SendMode mode,
        Communicator& comm) noexcept override {
        return add(count, type, dest, comm), wrapped().send(buffer, count, type, dest, tag, mode, comm);
    }
    int isend(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, pml::SendMode mode,
        Communicator& comm, Request** request) noexcept override {
        return add(count, type, dest, comm), wrapped().isend(buffer, count, type, dest, tag, mode, comm, request);
    }
    int send_init(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, pml::SendMode mode,
        Communicator& comm, Request** request) noexcept override {
        return add(count, type, dest, comm), wrapped().send_init(buffer, count, type, dest, tag, mode, comm, request);
    }

private:
    void add(MPI_Count count, const Datatype& type, int dest, const Communicator& comm) noexcept {
        if (const ProcessId to = comm.remote_group->process(dest); to.job == own_job) { // the matrix has no other ranks
            std::atomic_ref(_row[to.rank].messages).fetch_add(1, std::memory_order_relaxed);
            std::atomic_ref(_row[to.rank].bytes).fetch_add(std::uint64_t(count * type.size), std::memory_order_relaxed);
        }
    }
    // The picture has a square for each pair, the darker the more bytes: a line is a sender, a column a receiver.
    void report(const std::vector<Row>& rows) const {
        std::ofstream svg(_file.empty() ? "/dev/null" : _file);
        svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << rows.size() << ' ' << rows.size() << "'>\n";
        for (std::size_t from = 0; from < rows.size(); ++from) {
            for (std::size_t to = 0; to < rows.size(); ++to) {
                if (const Cell& cell = rows[from][to]; cell.messages > 0) {
                    std::printf("matrix: %zu to %zu: %ju messages, %ju bytes\n", from, to, cell.messages, cell.bytes);
                    svg << "<rect x='" << to << "' y='" << from << "' width='1' height='1' opacity='"
                        << std::min(1.0, std::log2(double(cell.bytes) + 2) / 32) << "'/>\n";
                }
            }
        }
        if (!(svg << "</svg>\n").flush()) {
            log_error("pml/matrix: cannot write " + _file);
        }
    }

    Runtime& _runtime;
    const std::string _file;
    Row _row;
};

class MatrixComponent final : public pml::Component {
public:
    Capability capabilities() const noexcept override { return Capability::thread_multiple | Capability::sessions; }
    Result<pml::Candidate> query(Context&) override {
        return Error{Errc::not_available, "it only wraps another pml (pml_wrap=matrix)"};
    }
    Status wrap(Context& context, std::unique_ptr<pml::Module>& module) override {
        return unless_out_of_memory([&]() -> Status {
            module = std::make_unique<MatrixModule>(std::move(module), context.runtime(),
                std::string(context.core().params.at("pml_matrix_file").as_string()), Row(context.runtime().size()));
            return {};
        });
    }
};

} // namespace

PATCHBAY_COMPONENT = describe<MatrixComponent>(
    "pml", pml::interface_version, "matrix", "1.0.0", "counts the messages between all ranks, over any pml", params);
