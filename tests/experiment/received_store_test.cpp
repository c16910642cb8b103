// A store that somebody sent, or that was damaged: whatever is in it, it is read or refused with a sentence.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "experiment/store_fixture.hpp"

namespace nalm::received_store_test {
namespace {

using test::runs_in;

TEST_F(StoreTest, APlanThatNeverEndsIsRefused) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
  }
  const std::tuple<const char*, nlohmann::json, const char*> cases[] = {
      {"log_every", 0, ": --log-every must be from 1 to 1000000000."},
      {"iterations", -5, ": --iterations must be from 0 to 1000000000."},
      {"options", {{"inputs", "1000000000"}}, ": --inputs must be a whole number from 2 to 10000"},
      {"seeds", nlohmann::json::array(), ": there must be at least one seed"},
      {"recipe", R"({"batch": 1e9})",
       ": the changes to the recipe cannot be used: batch must be a whole number from 1 to 1000000"},
  };
  for (const auto& [part, value, words] : cases) {
    set_plan(part, value);
    for (const std::string& message : refusals()) EXPECT_TRUE(contains(message, file() + words)) << message;
  }
}

TEST_F(StoreTest, DeepNestingIsRefused) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
  }
  const std::string brackets = std::string(200000, '[') + std::string(200000, ']');
  sql("UPDATE runs SET facts = '" + brackets + "'");
  EXPECT_TRUE(contains(complaint(runs_in(*Store::read(folder_))), "the facts about a run cannot be read"));
  set_plan("recipe", R"({"regularisers":)" + brackets + "}");
  for (const std::string& message : refusals()) {
    EXPECT_TRUE(message.starts_with(file())) << message.substr(0, 200);
    EXPECT_TRUE(contains(message, "nested more than 64 deep")) << message.substr(0, 200);
  }
  sql("UPDATE about SET value = '" + brackets + "' WHERE name = 'plan'");
  for (const std::string& message : refusals())
    EXPECT_TRUE(contains(message, "the stored plan has brackets nested more than 64 deep")) << message.substr(0, 200);
}

TEST_F(StoreTest, ViewsAndTriggersAreRefused) {
  { Store store = created(); }
  const auto refused = [&] {
    for (const std::string& message : refusals())
      EXPECT_EQ(message, file() + ": it has views or triggers, which no store of nalm has.");
  };
  sql("CREATE TRIGGER hidden AFTER INSERT ON runs BEGIN DELETE FROM series; END");
  refused();
  sql("DROP TRIGGER hidden");
  for (const std::string& message : refusals()) EXPECT_EQ(message, "");
  // Whoever asks it for a name would wait for ever.
  sql(R"(DROP TABLE about;
         CREATE VIEW about (name, value) AS
           WITH RECURSIVE forever (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM forever) SELECT n, 'x' FROM forever)");
  refused();
}

// A file can be made so that reading it never ends, without a view: pages that lead to each other again and again. It
// takes a hundred million instructions of SQLite to notice, a second or two.
TEST_F(StoreTest, AStatementThatNeverEndsIsGivenUp) {
  { Store store = created(); }
  const Result<StoreFile> opened = StoreFile::read(folder_);
  ASSERT_TRUE(opened.ok()) << complaint(opened);
  const Result<std::string> answer = opened->value(
      "WITH RECURSIVE forever (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM forever) SELECT max(n) FROM forever");
  EXPECT_EQ(complaint(answer), file() + " takes longer to read than any store of its size; nalm did not write it.");
  // What comes after is read as ever.
  EXPECT_TRUE(opened->about("plan").ok());
}

// What an index says may not be what the table has: rows without an end would fill the memory before that is noticed.
TEST_F(StoreTest, MoreRunsThanThePlanHasAreRefused) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch(ids_), 1).ok());
  }
  sql("INSERT INTO runs (model, operation, setting, seed, recipe, stack, seconds, note, facts, checksum) SELECT model, "
      "operation, setting, 12345, recipe, stack, seconds, note, facts, checksum FROM runs WHERE seed = 11");
  const Result<Store> store = Store::read(folder_);
  ASSERT_TRUE(store.ok()) << complaint(store);
  EXPECT_EQ(complaint(store->missing()), file() + ": it has more runs than its plan, which no store of nalm has.");
  EXPECT_FALSE(runs_in(*store).ok());
}

class Checksum : public StoreTest {
 protected:
  Checksum() {
    Store store = created();
    FinishedRuns finished = batch({ids_[0], ids_[1]});
    finished.runs[1].record.values[1][0] = marked;
    EXPECT_TRUE(store.add(finished, 1).ok());
  }
  void expect_noticed() {
    const Result<Store> store = Store::read(folder_);
    ASSERT_TRUE(store.ok()) << complaint(store);
    EXPECT_TRUE(runs_in(*store, ids_[0].cell).ok()) << "the other one is whole";
    EXPECT_EQ(complaint(runs_in(*store)),
              file() +
                  ": the run RealNPU | div | U[-2,2) with seed 11 is not as it was stored: the file is damaged or "
                  "was changed.");
  }
  static constexpr double marked = 0.12345678901234567;
};

TEST_F(Checksum, NoticesAFlippedBit) {
  std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  char pattern[sizeof marked];
  std::memcpy(pattern, &marked, sizeof marked);
  const std::size_t at = bytes.find(std::string_view(pattern, sizeof pattern));
  ASSERT_NE(at, bytes.npos);
  stream.clear();
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(static_cast<char>(bytes[at] ^ 1));
  stream.close();
  expect_noticed();
}

TEST_F(Checksum, NoticesADeletedRow) {
  sql("DELETE FROM series WHERE step = 2000 AND run = (SELECT max(id) FROM runs)");
  expect_noticed();
}

TEST_F(Checksum, NoticesAnotherStep) {
  sql("UPDATE series SET step = 2001 WHERE step = 2000 AND run = (SELECT max(id) FROM runs)");
  expect_noticed();
}

TEST_F(Checksum, NoticesOtherParameters) {
  sql("UPDATE series SET parameters = x'' WHERE step = 2000 AND run = (SELECT max(id) FROM runs)");
  expect_noticed();
}

TEST_F(Checksum, NoticesAnotherNoteOrOtherFacts) {
  sql("UPDATE runs SET facts = '[[\"verdict\",\"wrong\"]]' WHERE id = (SELECT max(id) FROM runs)");
  expect_noticed();
  sql("UPDATE runs SET facts = (SELECT facts FROM runs WHERE id = 1)");
  EXPECT_TRUE(runs_in(*Store::read(folder_)).ok());
  sql("UPDATE runs SET note = 'found it' WHERE id = (SELECT max(id) FROM runs)");
  expect_noticed();
}

TEST_F(Checksum, NoticesARunUnderAnotherSeed) {
  sql("UPDATE runs SET seed = 3 WHERE id = (SELECT max(id) FROM runs)");
  EXPECT_TRUE(contains(complaint(runs_in(*Store::read(folder_))), "with seed 3 is not as it was stored"));
}

// No hours of work are added to a file that is broken, even where it can still be opened.
TEST_F(StoreTest, ABrokenPageIsNoticedBeforeWorkGoesOn) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch(ids_, 200), 1).ok());
  }
  EXPECT_TRUE(Store::resume(folder_).ok());
  const long page = std::stol(sql("SELECT rootpage FROM sqlite_schema WHERE name = 'series'"));
  const long size = std::stol(sql("PRAGMA page_size"));
  {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp((page - 1) * size);
    stream << std::string(16, '\xff');
  }
  const std::string message = complaint(Store::resume(folder_));
  EXPECT_TRUE(message.starts_with(file())) << message;
  EXPECT_TRUE(contains(message, "is damaged")) << message;
  const Result<Store> reader = Store::read(folder_);
  ASSERT_TRUE(reader.ok()) << complaint(reader);
  EXPECT_TRUE(contains(complaint(runs_in(*reader)), "is damaged"));
  // The lock was given back.
  EXPECT_FALSE(contains(complaint(Store::resume(folder_)), "another nalm"));
}

}  // namespace
}  // namespace nalm::received_store_test
