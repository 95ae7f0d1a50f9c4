// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mpix.h>
#include <type_traits>
#include <vector>

// An argument of any type.
struct Word {
    std::intptr_t bits = 0;

    Word() = default;
    template <class T>
    Word(T value)
        : bits(convert(value)) {}
    template <class T>
    operator T() const {
        if constexpr (std::is_pointer_v<T>) {
            return reinterpret_cast<T>(bits);
        } else {
            return static_cast<T>(bits);
        }
    }

private:
    template <class T>
    static std::intptr_t convert(T value) {
        if constexpr (std::is_null_pointer_v<T>) {
            return 0;
        } else if constexpr (std::is_pointer_v<T>) {
            return reinterpret_cast<std::intptr_t>(value);
        } else {
            return static_cast<std::intptr_t>(value);
        }
    }
};

// The types of handles that a function may get a wrong one of. Those from `cvar` on are of MPI_T.
enum class Handle {
    comm,
    group,
    datatype,
    op,
    info,
    errhandler,
    session,
    request,
    message,
    win,
    cvar,
    pvar_session,
    pvar,
    enumeration,
    registration,
    instance,
    count
};

// What is wrong with an argument.
enum class Bad {
    null_handle,
    zero_handle,  // the bits of a variable that was never written
    freed_handle, // several, of objects that were made in different ways
    other_handle,
    random_handle, // several, one call for each
    uncommitted,
    null_pointer,
    in_place,
    minus_one,
    minus_many,
    zero,
    large,
    no_text, // a text that is none of those allowed
};

// Valid arguments for all functions. The objects are made by MPI.
class Pool {
public:
    Pool();
    // Predefined handles and null handles only, for calls while MPI is not initialized.
    enum class Without { mpi };
    explicit Pool(Without);
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool();

    // A wrong handle of this type: MPI_COMM_NULL and the like, and those that every type has.
    std::vector<Word> bad_handles(Handle type, Bad what) const;
    // The address of a variable with this value, and of an array of some of them; valid until the next one.
    template <class T>
    Word variable(T value) {
        _variable = Word(value);
        return &_variable;
    }
    template <class T>
    Word array(T value) {
        _array.fill(0);
        for (std::size_t i = 0; i < 4; ++i) {
            reinterpret_cast<T*>(_array.data())[i] = value;
        }
        return _array.data();
    }
    // Memory that a function may write to; another one for each argument.
    Word out(std::size_t argument) { return _out[argument].data(); }
    // The addresses of two buffers that share nothing.
    Word send_buffer() { return _sent.data(); }
    Word receive_buffer() { return _received.data(); }
    // Zeros, and ones, as an array of any integer type.
    Word zeros() { return _zeros.data(); }
    template <class T>
    Word ones() {
        static std::array<T, 8> values = {1, 1, 1, 1, 1, 1, 1, 1};
        return values.data();
    }

    int ranks = 0, rank = 0;
    MPI_Comm comm = MPI_COMM_NULL, inter = MPI_COMM_NULL; // inter: with several ranks only
    MPI_Comm cart = MPI_COMM_NULL, graph = MPI_COMM_NULL, dist = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL, uncommitted = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Request persistent = MPI_REQUEST_NULL, psend = MPI_REQUEST_NULL, precv = MPI_REQUEST_NULL;
    MPI_Win win = MPI_WIN_NULL, dynamic = MPI_WIN_NULL;
    MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_pvar_session pvar_session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle pvar = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_enum enumeration = MPI_T_ENUM_NULL;
    MPI_T_event_registration registration = nullptr;
    MPI_Status status = {};
    int comm_keyval = 0, type_keyval = 0, win_keyval = 0, session_keyval = 0;

private:
    void make_tools();
    void start_partitions();
    void end_partitions();
    void make_freed();
    void make_freed_requests();
    void make_freed_tools();
    void add_freed(Handle type, Word handle) { _freed[std::size_t(type)].push_back(handle); }

    bool _has_objects = true;

    Word _variable;
    std::array<std::intptr_t, 32> _array{};
    std::array<std::array<std::intptr_t, 1024>, 20> _out{};
    std::array<std::intptr_t, 64> _sent{}, _received{}, _zeros{};
    std::array<std::intptr_t, 64> _no_object{}; // memory without an object
    std::array<std::vector<Word>, std::size_t(Handle::count)> _freed;
};

// One thing that is wrong with one argument of a function, and the class of the error that it has.
struct Case {
    static constexpr int self = -1; // the error handler of MPI_COMM_SELF is called
    static constexpr int any = -2;  // one of them is called
    static constexpr int none = -3; // none is called
    static constexpr int unchecked = -4;

    enum class Place { value, variable, array };

    int argument;
    const char* name; // what the text of the error calls the argument
    Bad what;
    int error_class;
    Handle handle; // for wrong handles
    Place place;   // whether the argument is the wrong value, or points to it
    int target;    // the argument whose error handler is called
};

struct Function {
    const char* name;
    int (*call)(const Word* arguments);
    void (*set)(Pool& pool, Word* arguments); // valid arguments
    bool needs_intercomm;
    int cases; // in all_cases, behind those of the functions before
};

extern const Function all_functions[]; // ends with a null name
extern const Case all_cases[];
