// Disks that are full or read-only: what is stored stays.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "experiment/store_fixture.hpp"

namespace nalm::store_disk_test {
namespace {

namespace fs = std::filesystem;
using test::runs_in;

TEST_F(StoreTest, AReadOnlyFolderIsRefusedButCanBeRead) {
  // Who is root may write anyway; a child that is nobody may not. A sanitizer's exit does not matter there.
  const auto as_nobody = [&](auto f) {
    return in_child([&] {
      if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 3;
      return f();
    });
  };
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
  }
  fs::permissions(top_, fs::perms(0755));
  fs::permissions(file(), fs::perms(0444));
  fs::permissions(folder_ + "/lock", fs::perms(0444));
  fs::permissions(folder_, fs::perms(0555));
  const std::string empty = (top_ / "empty").string();
  fs::create_directories(empty);
  fs::permissions(empty, fs::perms(0555));
  EXPECT_EQ(as_nobody([&] {
              const std::string message = complaint(Store::create(empty, info_of(plan_)));
              return contains(message, empty + " cannot be written to") && contains(message, "--out") ? 7 : 1;
            }),
            7);
  EXPECT_EQ(as_nobody([&] {
              const std::string message = complaint(Store::create(empty + "/new", info_of(plan_)));
              return contains(message, empty + "/new cannot be made") && contains(message, "--out") ? 7 : 1;
            }),
            7);
  EXPECT_EQ(as_nobody([&] {
              const std::string message = complaint(Store::resume(folder_));
              return contains(message, folder_ + " cannot be written to") ? 7 : 1;
            }),
            7);
  EXPECT_EQ(as_nobody([&] {
              const Result<Store> store = Store::read(folder_);
              return store && runs_in(*store) && runs_in(*store)->size() == 1 ? 7 : 1;
            }),
            7);
  fs::permissions(folder_, fs::perms(0755));
  fs::permissions(empty, fs::perms(0755));
}

// Files may grow no further: what a quota does.
TEST_F(StoreTest, KeepsWhatIsStoredWhenItsFileCannotGrow) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
  }
  const std::string said = (top_ / "said").string();
  EXPECT_EQ(in_child([&] {
              signal(SIGXFSZ, SIG_IGN);
              Result<Store> store = Store::resume(folder_);
              if (!store) return 1;
              const rlimit limit{fs::file_size(file()), fs::file_size(file())};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
              const Status added = store->add(batch({ids_[1], ids_[2]}, 2000), 1);
              if (added) return 3;
              std::ofstream(said) << complaint(added);
              return runs_in(*store) && runs_in(*store)->size() == 1 ? 7 : 4;
            }),
            7);
  std::string message;
  std::getline(std::ifstream(said), message);
  EXPECT_TRUE(contains(message, file())) << message;
  expect_stored({ids_[0]});
  Result<Store> store = Store::resume(folder_);
  ASSERT_TRUE(store.ok()) << complaint(store);
  ASSERT_TRUE(store->add(batch({ids_[1], ids_[2]}), 1).ok());
  expect_stored({ids_[0], ids_[1], ids_[2]});
}

TEST_F(StoreTest, KeepsWhatIsStoredWhenTheDiskIsFull) {
  const std::string disk = (top_ / "disk").string();
  fs::create_directories(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=128k") != 0) GTEST_SKIP() << "no right to mount a small disk";
  struct Unmount {
    const std::string& disk;
    ~Unmount() { EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0); }
  } unmount{disk};
  folder_ = disk + "/results";
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
    const std::string message = complaint(store.add(batch({ids_[1], ids_[2]}, 2000), 1));
    EXPECT_TRUE(contains(message, "the disk is full, so " + file() + " could not be written")) << message;
    EXPECT_TRUE(contains(message, "--resume")) << message;
    EXPECT_EQ(runs_in(store)->size(), 1u);
    // There is room for less.
    EXPECT_TRUE(store.add(batch({ids_[1]}), 1).ok());
  }
  expect_stored({ids_[0], ids_[1]});
  // No room for even the smallest store: the next attempt finds nothing in its way.
  {
    std::ofstream filler(disk + "/filler");
    filler << std::string(200000, 'x');
  }
  const std::string kept = folder_;
  folder_ = disk + "/second";
  const std::string message = complaint(Store::create(folder_, info_of(plan_)));
  EXPECT_TRUE(contains(message, "disk is full") || contains(message, "No space left")) << message;
  fs::remove(disk + "/filler");
  fs::remove_all(kept);
  { Store store = created(); }
  expect_stored({});
}

}  // namespace
}  // namespace nalm::store_disk_test
