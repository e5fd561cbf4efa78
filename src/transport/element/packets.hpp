#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/packet.hpp"

namespace baton::core {

inline constexpr std::size_t packet_payload = sizeof(Packet::payload);

constexpr BATON_HD std::size_t packets_for(std::size_t bytes) {
    return bytes / packet_payload + (bytes % packet_payload != 0 ? 1 : 0);
}

}  // namespace baton::core
