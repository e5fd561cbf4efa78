#!/bin/sh
# mpirun.sh RANKS SECONDS COMMAND...: starts COMMAND on RANKS ranks of this machine, however few cores it has.
# MPIEXEC names another mpirun; BATON_TEST_MPIRUN_FLAGS adds flags to it. SECONDS bounds the job, so that a hang ends
# with every process gone rather than with orphans; 0 means no bound.
set -eu
ranks=$1
seconds=$2
shift 2
mpirun=${MPIEXEC:-mpirun}

# Open MPI kills ranks that oversubscribe cores or run as root unless it is told not to; other launchers know neither flag.
flags="-n $ranks"
if "$mpirun" --version 2>/dev/null | grep -qiE 'open ?mpi|open-?rte|prte'; then
    flags="$flags --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca btl_base_warn_component_unused 0"
    # Data of a rank that dies in a test must not print Open MPI's help texts thrice.
    flags="$flags --mca orte_base_help_aggregate 1"
    # All ranks are on this machine: a third of the time of a start goes into looking for networks.
    flags="$flags --mca pml ob1 --mca btl self,vader"
    # Ranks that a failing one leaves behind are killed at once, not after a second or two.
    flags="$flags --mca odls_base_sigkill_timeout 0"
    [ "$seconds" -gt 0 ] && flags="$flags --timeout $seconds"
    [ "$(id -u)" -eq 0 ] && flags="$flags --allow-run-as-root"
fi
# shellcheck disable=SC2086 # the flags are words
exec "$mpirun" $flags ${BATON_TEST_MPIRUN_FLAGS:-} "$@"
