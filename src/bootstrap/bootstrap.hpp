#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

namespace baton::core {

/// How the ranks find each other, used at creation, at destruction and by window calls only: never on the path of an
/// operation, never by the service thread. Not thread-safe. Calls are collective and in the same order on all ranks.
class Bootstrap {
public:
    virtual ~Bootstrap() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    /// `all` receives size() blocks of `bytes`, block r from rank r.
    virtual void allgather(const void *mine, std::size_t bytes, void *all) = 0;
    virtual void barrier() = 0;

    /// The communicator is broken: destruction must not wait for other ranks.
    virtual void abandon() {}

    /// True where the ranks are threads of this process: addresses are valid everywhere, and no process can die alone.
    virtual bool same_process() const = 0;

    template <class T>
    std::vector<T> allgather(const T &mine) {
        std::vector<T> all(static_cast<std::size_t>(size()));
        allgather(&mine, sizeof(T), all.data());
        return all;
    }
    std::vector<std::string> allgather_strings(const std::string &mine);
};

/// Over a private duplicate of `comm`. Throws BATON_ERR_UNSUPPORTED, naming the hosts, where the ranks are not all on
/// one host (MPI_Comm_split_type SHARED), or are more than 64, or `comm` is an inter-communicator. The destructor frees
/// the duplicate unless abandon() was called (a broken communicator must not wait for dead ranks) or MPI is finalized.
class MpiBootstrap final : public Bootstrap {
public:
    explicit MpiBootstrap(MPI_Comm comm);
    ~MpiBootstrap() override;
    MpiBootstrap(const MpiBootstrap &) = delete;
    MpiBootstrap &operator=(const MpiBootstrap &) = delete;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void allgather(const void *mine, std::size_t bytes, void *all) override;
    void barrier() override;
    bool same_process() const override { return false; }
    void abandon() override { abandoned_ = true; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 0;
    bool abandoned_ = false;
};

/// Ranks as threads of one process, for tests without a launcher. make(n) gives n connected ends, one per thread.
class ThreadBootstrap final : public Bootstrap {
public:
    static std::vector<std::unique_ptr<ThreadBootstrap>> make(int size);
    ~ThreadBootstrap() override;

    int rank() const override { return rank_; }
    int size() const override;
    void allgather(const void *mine, std::size_t bytes, void *all) override;
    void barrier() override;
    bool same_process() const override { return true; }

private:
    struct Shared;
    ThreadBootstrap(std::shared_ptr<Shared> shared, int rank);
    std::shared_ptr<Shared> shared_;
    int rank_;
};

}  // namespace baton::core
