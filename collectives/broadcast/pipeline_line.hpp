#pragma once

#include "collectives/broadcast/pipeline.hpp"

/// Broadcast from rank to rank (pipeline.hpp) in lines, 120 bytes with an epoch, for buffers whose segments would be
/// too short to pay for their signals. The orders of the ranks are the same.
///   Root:   Store my part of the buffer in lines into the next rank's ring, and beside that into my receive buffer.
///   Others: Take each line out of my ring into my receive buffer, and store it into the ring of the next rank, unless
///           that is the root, as it comes.
/// Steps: lines + n - 2 flights. Wire: 16/15 of what pipeline.hpp says. Synchronisation: the epochs in the data, and
/// words back that say how much has been taken; arrivals are only compared. Scratch: all line buffers of a channel, as
/// one ring.
namespace baton::core {

/// The most steps of one of a channel's warps.
inline std::uint64_t pipeline_line_steps(std::uint64_t bytes, int channels) {
    return bytes / static_cast<std::uint64_t>(channels) / (lines_of_run * DataLine::payload) + 2;
}

template <class Engine>
BATON_HD void broadcast_pipeline_line(Engine &engine, const RoutedArgs &args) {
    if (!engine.begin(args.arrival)) return;
    engine.verify_arrivals();
    const Range part = engine.share(args.bytes, word_granule);
    pass_from_rank_to_rank(engine, args, pipeline_neighbours(args.route, args.root, engine.channel()), part);
    engine.finish();
}

}  // namespace baton::core
