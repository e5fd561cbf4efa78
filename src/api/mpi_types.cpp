#include <limits>

#include "api/error_state.hpp"

namespace baton::core {
namespace {

/// The integer type of `bytes` bytes; BATON_TYPE_COUNT if Baton has none.
baton_type integer(std::size_t bytes, bool is_signed) {
    switch (bytes) {
        case 1:
            return is_signed ? BATON_INT8 : BATON_UINT8;
        case 2:
            return is_signed ? BATON_INT16 : BATON_UINT16;
        case 4:
            return is_signed ? BATON_INT32 : BATON_UINT32;
        case 8:
            return is_signed ? BATON_INT64 : BATON_UINT64;
        default:
            return BATON_TYPE_COUNT;
    }
}
baton_type real(std::size_t bytes) {
    return bytes == 4 ? BATON_FLOAT32 : bytes == 8 ? BATON_FLOAT64 : BATON_TYPE_COUNT;
}

std::size_t size_of(MPI_Datatype datatype) {
    require_mpi();
    int bytes = 0;
    MPI_Type_size(datatype, &bytes);
    return static_cast<std::size_t>(bytes);
}

struct TypePair {
    MPI_Datatype mpi;
    baton_type type;
};

/// Returns BATON_TYPE_COUNT for types that Baton does not have.
baton_type find_type(MPI_Datatype datatype) {
    if (datatype == MPI_DATATYPE_NULL) return BATON_TYPE_COUNT;  // what an MPI calls the types that it does not have
    // The width of these depends on the Fortran compiler that the MPI was built with.
    if (datatype == MPI_INTEGER) return integer(size_of(datatype), true);
    if (datatype == MPI_REAL || datatype == MPI_DOUBLE_PRECISION) return real(size_of(datatype));
    const TypePair pairs[] = {
        {MPI_CHAR, integer(1, std::numeric_limits<char>::is_signed)},
        {MPI_CHARACTER, integer(1, std::numeric_limits<char>::is_signed)},
        {MPI_WCHAR, integer(sizeof(wchar_t), std::numeric_limits<wchar_t>::is_signed)},
        {MPI_SIGNED_CHAR, BATON_INT8},
        {MPI_UNSIGNED_CHAR, BATON_UINT8},
        {MPI_BYTE, BATON_UINT8},
        {MPI_SHORT, integer(sizeof(short), true)},
        {MPI_UNSIGNED_SHORT, integer(sizeof(short), false)},
        {MPI_INT, integer(sizeof(int), true)},
        {MPI_UNSIGNED, integer(sizeof(int), false)},
        {MPI_LONG, integer(sizeof(long), true)},
        {MPI_UNSIGNED_LONG, integer(sizeof(long), false)},
        {MPI_LONG_LONG, integer(sizeof(long long), true)},
        {MPI_UNSIGNED_LONG_LONG, integer(sizeof(long long), false)},
        {MPI_INT8_T, BATON_INT8},
        {MPI_UINT8_T, BATON_UINT8},
        {MPI_INT16_T, BATON_INT16},
        {MPI_UINT16_T, BATON_UINT16},
        {MPI_INT32_T, BATON_INT32},
        {MPI_UINT32_T, BATON_UINT32},
        {MPI_INT64_T, BATON_INT64},
        {MPI_UINT64_T, BATON_UINT64},
        {MPI_AINT, integer(sizeof(MPI_Aint), true)},
        {MPI_COUNT, integer(sizeof(MPI_Count), true)},
        {MPI_OFFSET, integer(sizeof(MPI_Offset), true)},
        {MPI_INTEGER1, BATON_INT8},
        {MPI_INTEGER2, BATON_INT16},
        {MPI_INTEGER4, BATON_INT32},
        {MPI_INTEGER8, BATON_INT64},
        {MPI_FLOAT, BATON_FLOAT32},
        {MPI_DOUBLE, BATON_FLOAT64},
        {MPI_REAL4, BATON_FLOAT32},
        {MPI_REAL8, BATON_FLOAT64},
    };
    for (const TypePair &pair : pairs) {
        if (pair.mpi == datatype) return pair.type;
    }
    return BATON_TYPE_COUNT;
}

baton_type type_from(MPI_Datatype datatype) {
    const baton_type type = find_type(datatype);
    if (type == BATON_TYPE_COUNT) {
        fail(BATON_ERR_UNSUPPORTED,
             "datatype has no Baton type: MPI's own integers, characters and bytes have one, and reals of 4 and 8 "
             "bytes");
    }
    return type;
}

baton_op op_from(MPI_Op mpi_op) {
    if (mpi_op == MPI_SUM) return BATON_SUM;
    if (mpi_op == MPI_PROD) return BATON_PROD;
    if (mpi_op == MPI_MIN) return BATON_MIN;
    if (mpi_op == MPI_MAX) return BATON_MAX;
    fail(BATON_ERR_UNSUPPORTED, "mpi_op has no Baton operation: MPI_SUM, MPI_PROD, MPI_MIN and MPI_MAX have one");
}

}  // namespace
}  // namespace baton::core

extern "C" {

baton_result baton_type_from_mpi(MPI_Datatype datatype, baton_type *type) {
    return baton::core::guarded("baton_type_from_mpi", [&] {
        baton::core::require_pointer(type, "type");
        *type = baton::core::type_from(datatype);
    });
}

baton_result baton_op_from_mpi(MPI_Op mpi_op, baton_op *op) {
    return baton::core::guarded("baton_op_from_mpi", [&] {
        baton::core::require_pointer(op, "op");
        *op = baton::core::op_from(mpi_op);
    });
}

}  // extern "C"
