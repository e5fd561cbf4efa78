#include "reference.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "transport/element/dispatch.hpp"

namespace baton::bench {

namespace {

constexpr std::size_t piece_bytes = 16384;

/// A piece of a pattern from any byte on, generated from the 8-byte boundary below it.
class Piece {
public:
    /// The bytes [first, first + bytes) of the pattern; valid until the next call. REQUIRES: bytes <= piece_bytes.
    const std::byte *generate(const Pattern &pattern, std::uint64_t first, std::size_t bytes) {
        const std::size_t skip = first % 8;
        generate_words(pattern, first / 8 * 2, words_, (skip + bytes + 7) / 8 * 2);
        return reinterpret_cast<const std::byte *>(words_) + skip;
    }

private:
    alignas(64) std::uint32_t words_[piece_bytes / 4 + 2];
};

Check compare(const std::byte *data, const std::byte *expected, std::size_t count, std::size_t size,
              std::uint64_t index) {
    Check check;
    if (std::memcmp(data, expected, count * size) == 0) {
        return check;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (std::memcmp(data + i * size, expected + i * size, size) != 0) {
            check.add(Check{1, index + i});
        }
    }
    return check;
}

/// Reduces piece by piece: generates the inputs of all ranks, then makes the calls as often as they were repeated.
template <class T>
class PieceReducer {
public:
    static constexpr std::size_t elements = piece_bytes / 8;

    explicit PieceReducer(const Reduction &reduction)
        : reduction_(reduction), pieces_(static_cast<std::size_t>(reduction.ranks)), inputs_(pieces_.size()) {}

    const T *reduce(std::uint64_t first, std::size_t count) {
        generate(first, count);
        for (int call = 0; call < std::max(1, reduction_.repeats); ++call) {
            core::with_op(reduction_.op, [&](auto op) { combine_all<decltype(op)::value>(call, count); });
            for (std::size_t i = 0; i < count; ++i) {
                result_[i] = core::Element<T>::store(core::finish<T>(reduction_.op, sums_[i], reduction_.ranks));
            }
            if (reduction_.replaced == Reduction::nobody) {
                break;
            }
        }
        return result_;
    }

    /// Checks a piece of a sum whose order is free.
    Check check_sums(std::uint64_t first, const T *data, std::size_t count, std::uint64_t index) {
        generate(first, count);
        Check check;
        for (std::size_t i = 0; i < count; ++i) {
            SumBound bound;
            for (const T *input : inputs_) {
                bound.add(static_cast<double>(core::Element<T>::load(input[i])));
            }
            if (!bound.admits(data[i], reduction_.ranks, reduction_.op == BATON_AVG ? reduction_.ranks : 1)) {
                check.add(Check{1, index + i});
            }
        }
        return check;
    }

private:
    void generate(std::uint64_t first, std::size_t count) {
        Pattern pattern = reduction_.pattern;
        for (std::size_t rank = 0; rank < pieces_.size(); ++rank) {
            pattern.seed = reduction_.seeds[rank];
            const std::byte *bytes = pieces_[rank].generate(pattern, first * sizeof(T), count * sizeof(T));
            inputs_[rank] = reinterpret_cast<const T *>(bytes);
        }
    }

    const T *input(int rank, int call) const {
        return call > 0 && reduction_.replaces(rank) ? result_ : inputs_[static_cast<std::size_t>(rank)];
    }

    template <int op>
    void combine_all(int call, std::size_t count) {
        const T *first = input(0, call);
        for (std::size_t i = 0; i < count; ++i) {
            sums_[i] = core::Element<T>::load(first[i]);
        }
        for (int rank = 1; rank < reduction_.ranks; ++rank) {
            const T *next = input(rank, call);
            for (std::size_t i = 0; i < count; ++i) {
                sums_[i] = core::combine<T>(op, sums_[i], core::Element<T>::load(next[i]));
            }
        }
    }

    const Reduction &reduction_;
    std::vector<Piece> pieces_;
    std::vector<const T *> inputs_;
    core::Accumulator<T> sums_[elements];
    T result_[elements];
};

}  // namespace

Reduction make_reduction(baton_type type, baton_op op, int ranks, std::uint64_t round) {
    Reduction reduction;
    reduction.ranks = ranks;
    reduction.op = op;
    for (int rank = 0; rank < ranks; ++rank) {
        reduction.pattern = make_pattern(type, rank, round);
        reduction.seeds[rank] = reduction.pattern.seed;
    }
    return reduction;
}

void fill_host(const Pattern &pattern, void *destination, std::size_t bytes) {
    Piece piece;
    for (std::size_t done = 0; done < bytes; done += piece_bytes) {
        const std::size_t part = std::min(piece_bytes, bytes - done);
        std::memcpy(static_cast<std::byte *>(destination) + done, piece.generate(pattern, done, part), part);
    }
}

Check check_copy_host(const Pattern &pattern, baton_type type, std::uint64_t first, const void *data,
                      std::size_t count) {
    const std::size_t size = baton_type_size(type);
    const std::size_t step = piece_bytes / size;
    Piece piece;
    Check check;
    for (std::size_t done = 0; done < count; done += step) {
        const std::size_t part = std::min(step, count - done);
        const std::byte *expected = piece.generate(pattern, (first + done) * size, part * size);
        check.add(compare(static_cast<const std::byte *>(data) + done * size, expected, part, size, done));
    }
    return check;
}

Check check_reduction_host(const Reduction &reduction, baton_type type, std::uint64_t first, const void *data,
                           std::size_t count) {
    return core::dispatch_type(type, [&]<class T>() {
        PieceReducer<T> reducer(reduction);
        Check check;
        for (std::size_t done = 0; done < count; done += PieceReducer<T>::elements) {
            const std::size_t part = std::min(PieceReducer<T>::elements, count - done);
            if constexpr (rounding < T >> 0) {
                if (reduction.any_order && reduction.is_sum()) {
                    check.add(reducer.check_sums(first + done, static_cast<const T *>(data) + done, part, done));
                    continue;
                }
            }
            const T *expected = reducer.reduce(first + done, part);
            check.add(compare(static_cast<const std::byte *>(data) + done * sizeof(T),
                              reinterpret_cast<const std::byte *>(expected), part, sizeof(T), done));
        }
        return check;
    });
}

}  // namespace baton::bench
