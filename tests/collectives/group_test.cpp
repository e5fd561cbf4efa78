// What a group leaves behind when the system refuses one of its steps.
#include "api/group.hpp"

#include <gtest/gtest.h>

#include "bootstrap/thread_bootstrap.hpp"
#include "support/thrown_by.hpp"

namespace baton::core {
namespace {

std::shared_ptr<Communicator> communicator_of_one() {
    baton_config config;
    baton_config_init(&config);
    config.transport = BATON_TRANSPORT_HOST;
    return std::make_shared<Communicator>(std::move(ThreadBootstrap::make(1)[0]), &config);
}

class Groups : public ::testing::Test {
protected:
    ~Groups() override {
        first_->turn_unless_destroyed().shut_down();
        second_->turn_unless_destroyed().shut_down();
    }
    void add(const std::shared_ptr<Communicator> &comm, bool refused = false, baton_result code = BATON_ERR_SYSTEM) {
        group_.add_call([] {}, comm,
                        [this, refused, code](const Turn &) {
                            if (refused) fail(code, "refused");
                            ++issued_;
                        });
    }
    baton_result end() {
        return test::thrown_by([this] { group_.end(); }).code();
    }
    static baton_result state_of(Communicator &comm) {
        return test::thrown_by([&] { comm.throw_if_broken(); }).code();
    }

    std::shared_ptr<Communicator> first_ = communicator_of_one(), second_ = communicator_of_one();
    Group group_;
    int issued_ = 0;
};

TEST_F(Groups, WhatIsRefusedAtOnceLeavesNothing) {
    group_.begin();
    add(first_, true);
    add(first_);
    EXPECT_EQ(end(), BATON_ERR_SYSTEM);
    EXPECT_EQ(issued_, 0);
    EXPECT_EQ(state_of(*first_), BATON_SUCCESS);
}

/// Its peers have the first step, and would take the first step of the next group for the second.
TEST_F(Groups, ACommunicatorIsBrokenBetweenItsSteps) {
    group_.begin();
    add(first_);
    add(first_, true);
    add(first_);
    EXPECT_EQ(end(), BATON_ERR_SYSTEM);
    EXPECT_EQ(issued_, 1);
    EXPECT_EQ(state_of(*first_), BATON_ERR_SYSTEM);
}

TEST_F(Groups, ACommunicatorOfWhichNothingWasIssuedWorksOn) {
    group_.begin();
    add(first_);
    add(second_, true);
    add(second_);
    EXPECT_EQ(end(), BATON_ERR_SYSTEM);
    EXPECT_EQ(issued_, 1);
    EXPECT_EQ(state_of(*first_), BATON_SUCCESS) << "all";
    EXPECT_EQ(state_of(*second_), BATON_SUCCESS) << "none";
}

/// Their peers were refused nothing, and issue all of theirs.
TEST_F(Groups, OtherCommunicatorsHaveAllOfTheirSteps) {
    group_.begin();
    add(first_);
    add(second_, true);
    add(first_);
    EXPECT_EQ(end(), BATON_ERR_SYSTEM);
    EXPECT_EQ(issued_, 2);
    EXPECT_EQ(state_of(*first_), BATON_SUCCESS) << "all";
    EXPECT_EQ(state_of(*second_), BATON_SUCCESS) << "none";

    group_.begin();
    add(first_);
    add(first_, true);
    add(second_);
    add(first_);
    add(second_);
    EXPECT_EQ(end(), BATON_ERR_SYSTEM);
    EXPECT_EQ(issued_, 5);
    EXPECT_EQ(state_of(*first_), BATON_ERR_SYSTEM) << "one of three";
    EXPECT_EQ(state_of(*second_), BATON_SUCCESS) << "all";
}

TEST_F(Groups, TheFirstFailureIsReturned) {
    group_.begin();
    add(first_, true, BATON_ERR_MEMORY);
    add(second_, true);
    EXPECT_EQ(end(), BATON_ERR_MEMORY);
}

}  // namespace
}  // namespace baton::core
