// Who may write to a folder: one process at a time, and never through what somebody else has put in the lock's place.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiment/store_fixture.hpp"

namespace nalm::store_lock_test {
namespace {

namespace fs = std::filesystem;

// All of them wait for the same moment. Whoever comes first writes; the others are told so, whether it still writes or
// has finished.
TEST_F(StoreTest, OfManyProcessesThatBeginAtOnceOneWrites) {
  constexpr int count = 8;
  int start[2];
  ASSERT_EQ(pipe(start), 0);
  std::vector<pid_t> children;
  for (int k = 0; k < count; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      char byte;
      close(start[1]);
      if (read(start[0], &byte, 1) != 0) _exit(1);
      Result<Store> store = Store::create(folder_, info_of(plan_));
      if (store) _exit(store->add(batch({ids_[0], ids_[1]}, 100), 1).ok() ? 7 : 2);
      const std::string message = complaint(store);
      _exit(contains(message, "another nalm is writing to") || contains(message, "already holds results") ? 8 : 3);
    }
    children.push_back(child);
  }
  close(start[0]);
  close(start[1]);
  int wrote = 0, refused = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    wrote += WIFEXITED(status) && WEXITSTATUS(status) == 7;
    refused += WIFEXITED(status) && WEXITSTATUS(status) == 8;
  }
  EXPECT_EQ(wrote, 1);
  EXPECT_EQ(refused, count - 1);
  expect_stored({ids_[0], ids_[1]}, 100);
}

// Neither emptied nor locked nor followed.
TEST_F(StoreTest, ALinkInTheLocksPlaceIsNotFollowed) {
  fs::create_directories(folder_);
  const fs::path other = top_ / "other";
  std::ofstream(other) << "somebody's";
  fs::create_symlink(other, folder_ + "/lock");
  const std::string message = complaint(Store::create(folder_, info_of(plan_)));
  EXPECT_TRUE(contains(message, folder_ + " cannot be written to")) << message;
  std::string text;
  std::getline(std::ifstream(other), text);
  EXPECT_EQ(text, "somebody's");
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(StoreTest, ALockThatSomebodyDeletedIsMadeAgain) {
  { Store store = created(); }
  fs::remove(folder_ + "/lock");
  const Result<Store> store = Store::resume(folder_);
  EXPECT_TRUE(store.ok()) << complaint(store);
  EXPECT_TRUE(contains(complaint(Store::resume(folder_)), "another nalm is writing to"));
}

}  // namespace
}  // namespace nalm::store_lock_test
