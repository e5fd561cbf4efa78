#pragma once

#include "programs_data.hpp"
#include "programs_early.hpp"
#include "programs_failure.hpp"
#include "programs_lines.hpp"
#include "programs_order.hpp"

namespace baton::core::contract {

/// The programs by name, for what is not a template. A clause of the contract is a program, calls of it, and what they
/// must leave behind (clauses.hpp).
enum class Program {
    meet,
    exchange,
    reduce,
    rounds,
    relays,
    credits,
    early,
    packets,
    lines,
    go_on_after_failure,
    stop_short,
};
inline constexpr Program all_programs[] = {
    Program::meet,      Program::exchange, Program::reduce,  Program::rounds, Program::relays,
    Program::credits,   Program::early,    Program::packets, Program::lines,  Program::go_on_after_failure,
    Program::stop_short};

/// Returns body.template operator()<P>() for the program's class P.
template <class Body>
decltype(auto) dispatch_program(Program program, Body &&body) {
    switch (program) {
        case Program::meet:
            return body.template operator()<Meet>();
        case Program::exchange:
            return body.template operator()<Exchange>();
        case Program::reduce:
            return body.template operator()<Reduce>();
        case Program::rounds:
            return body.template operator()<Rounds>();
        case Program::relays:
            return body.template operator()<Relays>();
        case Program::credits:
            return body.template operator()<Credits>();
        case Program::early:
            return body.template operator()<Early>();
        case Program::packets:
            return body.template operator()<Packets>();
        case Program::lines:
            return body.template operator()<Lines>();
        case Program::go_on_after_failure:
            return body.template operator()<GoOnAfterFailure>();
        default:
            return body.template operator()<StopShort>();
    }
}

}  // namespace baton::core::contract
