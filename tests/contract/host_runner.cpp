#include "host_runner.hpp"

namespace baton::core::contract {

static_assert(Engine<HostEngine> && HasPairs<HostEngine> && HasParts<HostEngine> && HasSources<HostEngine> &&
              HasStaging<HostEngine> && HasPackets<HostEngine>);

Transport host_transport() { return transport_on_host<HostEngine>("host"); }

}  // namespace baton::core::contract
