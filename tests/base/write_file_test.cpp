// Files appear whole or not at all, and nothing but the named file is touched.
#include "base/write_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <thread>

#include "temporary_folder.hpp"

namespace nalm::write_file_test {
namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::size_t count() const {
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++files;
    return files;
  }

  test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(WriteFile, MakesAndReplaces) {
  ASSERT_TRUE(write_file(at("a"), "one").ok());
  EXPECT_EQ(text_of(at("a")), "one");
  ASSERT_TRUE(write_file(at("a"), std::string(300000, 'x')).ok());
  EXPECT_EQ(text_of(at("a")), std::string(300000, 'x'));
  EXPECT_EQ(count(), 1u);
}

TEST_F(WriteFile, WithoutAnEndNothingIsChanged) {
  ASSERT_TRUE(write_file(at("a"), "one").ok());
  {
    FileWriter nothing(at("b"));
    EXPECT_EQ(count(), 1u) << "nothing is made before there is something to write";
    FileWriter half(at("a"));
    half.write(std::string(300000, 'x'));
  }
  EXPECT_EQ(text_of(at("a")), "one");
  EXPECT_EQ(count(), 1u);
}

TEST_F(WriteFile, AFileThatHappensToBeBesideIsNotTouched) {
  ASSERT_TRUE(write_file(at("victim"), "keep").ok());
  fs::create_symlink("victim", at("a.part"));
  ASSERT_TRUE(write_file(at("a"), "one").ok());
  EXPECT_EQ(text_of(at("victim")), "keep");
  EXPECT_TRUE(fs::is_symlink(at("a.part")));
}

TEST_F(WriteFile, LinksLeadToTheFile) {
  ASSERT_TRUE(write_file(at("a"), "one").ok());
  fs::create_symlink("a", at("link"));
  fs::create_symlink("link", at("second"));
  ASSERT_TRUE(write_file(at("second"), "two").ok());
  EXPECT_EQ(text_of(at("a")), "two");
  EXPECT_TRUE(fs::is_symlink(at("link")) && fs::is_symlink(at("second")));
  fs::create_symlink("new", at("to new"));
  ASSERT_TRUE(write_file(at("to new"), "three").ok());
  EXPECT_EQ(text_of(at("new")), "three");
  EXPECT_TRUE(fs::is_symlink(at("to new")));
  fs::create_symlink("itself", at("itself"));
  EXPECT_FALSE(write_file(at("itself"), "four").ok());
}

TEST_F(WriteFile, PermissionsStay) {
  ASSERT_TRUE(write_file(at("a"), "secret").ok());
  ASSERT_EQ(chmod(at("a").c_str(), 0600), 0);
  ASSERT_TRUE(write_file(at("a"), "another").ok());
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(WriteFile, APipeIsWrittenTo) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  std::future<std::string> read = std::async(std::launch::async, [&] { return text_of(at("pipe")); });
  const Status written = write_file(at("pipe"), "through");
  EXPECT_TRUE(written.ok());
  EXPECT_EQ(read.get(), "through");
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
}

TEST_F(WriteFile, ADescriptorIsWrittenToWhereItStands) {
  std::FILE* file = std::fopen(at("a").c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("before,", file);
  std::fflush(file);
  fs::create_symlink(fmt::format("/proc/self/fd/{}", fileno(file)), at("link"));
  EXPECT_TRUE(can_write(at("link")).ok());
  ASSERT_TRUE(write_file(at("link"), "within,").ok());
  std::fputs("after", file);
  std::fclose(file);
  EXPECT_EQ(text_of(at("a")), "before,within,after");
  EXPECT_TRUE(fs::is_symlink(at("link")));
}

TEST_F(WriteFile, AFullDiskIsNamed) {
  const Status written = write_file("/dev/full", "text");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("No space left"), std::string::npos) << written.error().message;
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(WriteFile, WhatCannotBeWrittenIsKnownBefore) {
  EXPECT_TRUE(can_write(at("a")).ok());
  EXPECT_EQ(count(), 0u) << "asking makes nothing";
  EXPECT_FALSE(can_write(at("no folder/a")).ok());
  EXPECT_FALSE(can_write(folder_.string()).ok());
  EXPECT_FALSE(write_file(at("no folder/a"), "text").ok());
  EXPECT_FALSE(write_file(folder_.string(), "text").ok());
}

// Names of 255 bytes leave no room for an ending of our own.
TEST_F(WriteFile, TheLongestNamesWork) {
  const std::string name(255, 'n');
  ASSERT_TRUE(write_file(at(name), "text").ok());
  EXPECT_EQ(text_of(at(name)), "text");
}

TEST_F(WriteFile, TwoWritersBothSucceed) {
  constexpr int times = 50;
  const auto write = [&](char letter) {
    int failed = 0;
    for (int k = 0; k < times; ++k) failed += !write_file(at("a"), std::string(100000, letter)).ok();
    return failed;
  };
  std::future<int> other = std::async(std::launch::async, write, 'a');
  EXPECT_EQ(write('b'), 0);
  EXPECT_EQ(other.get(), 0);
  const std::string text = text_of(at("a"));
  EXPECT_EQ(text.size(), 100000u);
  EXPECT_EQ(text, std::string(100000, text[0]));
  EXPECT_EQ(count(), 1u);
}

}  // namespace
}  // namespace nalm::write_file_test
