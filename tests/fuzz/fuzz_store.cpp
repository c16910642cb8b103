// A store with any bytes in it, or with any texts in the place of what it holds: whoever reads it, goes on with it, or
// shows it gets an answer or a sentence.
//
// The first byte says what is done to a small store: 0, bytes are changed, two for the place and one for the value, at
// the end the file is cut where it says so; 1, the rest is the whole file; 2 and above, the rest replaces one of the
// texts, numbers or blobs.
#include <sqlite3.h>

#include <cstddef>
#include <cstdint>

#include "experiment/compare.hpp"
#include "experiment/summary.hpp"
#include "report/report.hpp"
#include "report/table.hpp"
#include "small_store.hpp"

namespace {

using namespace nalm;
using fuzz::require;

const std::string& seed() {
  static const std::string bytes = fuzz::small_store();
  return bytes;
}

// Statements with one parameter. STRICT tables keep their types, so that numbers are read off the text.
constexpr const char* changes[] = {
    "UPDATE about SET value = ? WHERE name = 'plan'", "UPDATE about SET value = ? WHERE name = 'version'",
    "UPDATE about SET value = ? WHERE name = 'seconds'", "UPDATE about SET name = ? WHERE name = 'threads'",
    "UPDATE runs SET facts = ? WHERE id = 1", "UPDATE runs SET note = ? WHERE id = 1", "UPDATE runs SET recipe = ?",
    "UPDATE runs SET model = ? WHERE id = 2", "UPDATE runs SET setting = ? WHERE id = 2",
    "UPDATE runs SET seed = CAST(CAST(? AS TEXT) AS INTEGER) WHERE id = 3",
    "UPDATE runs SET seconds = CAST(CAST(? AS TEXT) AS REAL) WHERE id = 3",
    "UPDATE series SET step = CAST(CAST(? AS TEXT) AS INTEGER) WHERE step = 2000 AND run = 1",
    "UPDATE series SET measured = CAST(? AS BLOB) WHERE step = 1000",
    "UPDATE series SET parameters = CAST(? AS BLOB) WHERE run = 2",
    // Not only the values: somebody else's schema.
    ("CREATE TABLE copy AS SELECT * FROM runs; DROP TABLE runs; ALTER TABLE copy RENAME "
     "TO runs; UPDATE runs SET id = ?, seed = ?1, checksum = ?1, facts = ?1")};

void change(const std::string& path, const char* statements, std::string_view text) {
  sqlite3* db = nullptr;
  require(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", nullptr, nullptr, nullptr);
  while (statements && *statements) {
    sqlite3_stmt* statement = nullptr;
    const char* rest = nullptr;
    if (sqlite3_prepare_v2(db, statements, -1, &statement, &rest) != SQLITE_OK) break;
    if (sqlite3_bind_parameter_count(statement) > 0)
      sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    sqlite3_step(statement);  // what is against the rules of the table stays as it was
    sqlite3_finalize(statement);
    statements = rest;
  }
  sqlite3_close(db);
}

template <class T>
bool answered(const Result<T>& result) {
  if (!result) require(!result.error().message.empty());
  return result.ok();
}

// As nalm table, compare and report do it.
void look(const Store& store) {
  answered(store.missing());
  const Result<Results> results = judge_store(store);
  if (!answered(results)) return;
  for (const char* format : {"terminal", "csv", "json"}) print_table(*results, "", format);
  print_overview(*results);
  answered(compare_with_published(*results));
  answered(compare_stores(*results, *results));
  Judgement judgement;
  judgement.criterion.kind = Criterion::Kind::Mape;
  answered(judge_store(store, judgement));
  answered(report_data(store, {}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const test::TemporaryFolder place;
  const std::string folder = place.path().string(), path = folder + "/" + std::string(StoreFile::file_name);
  const std::uint8_t kind = data[0];
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string bytes = kind == 1 ? std::string(rest) : seed();
  if (kind == 0) {
    for (std::size_t k = 1; k + 2 < size; k += 3) {
      const std::size_t at = (static_cast<std::size_t>(data[k]) << 8 | data[k + 1]) % bytes.size();
      if (k + 5 >= size && data[k + 2] == 0xff)
        bytes.resize(at + 1);
      else
        bytes[at] = static_cast<char>(data[k + 2]);
    }
  }
  std::filesystem::remove(path + "-journal");
  fuzz::write_bytes(path, bytes);
  if (kind >= 2) change(path, changes[(kind - 2) % std::size(changes)], rest);
  if (const Result<Store> store = Store::read(folder); answered(store)) look(*store);
  if (const Result<Store> store = Store::resume(folder); answered(store)) answered(store->missing());
  return 0;
}
