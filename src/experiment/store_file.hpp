// The SQLite file that a store of results is, whatever it stores: opened, locked, created, and what it says about
// itself.
#pragma once

#include <sqlite3.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nalm/result.hpp"

namespace nalm {

// A prepared statement. Columns and parameters count from 0.
class Statement {
 public:
  static Result<Statement> prepare(sqlite3* db, std::string_view sql);

  void bind(int k, std::string_view text);
  void bind(int k, long long value) { note(sqlite3_bind_int64(get(), k + 1, value)); }
  template <class T>
  void bind(int k, const std::vector<T>& numbers) {
    bind_bytes(k, numbers.data(), numbers.size() * sizeof(T));
  }
  void bind(int k, double value) { note(sqlite3_bind_double(get(), k + 1, value)); }  // NaN becomes null
  // Numbers as they are in memory, so that what is read is what was trained.
  void bind_bytes(int k, const void* values, std::size_t size);

  template <class... Values>
  void bind_all(const Values&... values) {
    int k = 0;
    (bind(k++, values), ...);
  }

  int step() { return bound_ != SQLITE_OK ? bound_ : sqlite3_step(get()); }
  void reset() { sqlite3_reset(get()), bound_ = SQLITE_OK; }

  std::string text(int k) const;
  long long number(int k) const { return sqlite3_column_int64(get(), k); }
  double real(int k) const;  // null is NaN
  template <class T>
  std::vector<T> numbers(int k) const {
    const std::string_view bytes = bytes_of(k);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  sqlite3_stmt* get() const { return statement_.get(); }
  // A value that could not be bound, because it is too long or memory is short, is an error of the next step.
  void note(int code) {
    if (code != SQLITE_OK) bound_ = code;
  }
  std::string_view bytes_of(int k) const;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = SQLITE_OK;
};

// Whether a path leads to a part of a store, which no other text may replace: it may be hours of work.
bool is_part_of_store(const std::string& path);

class StoreFile {
 public:
  static constexpr std::string_view file_name = "runs.sqlite";
  using Entries = std::vector<std::pair<std::string_view, std::string>>;

  // A new one in a folder that is made if need be, with these tables besides "about". A folder that has one already,
  // of whatever kind, is refused.
  static Result<StoreFile> create(const std::string& folder, const char* tables, const Entries& about);
  // To add to it: nobody else can, until this is gone.
  static Result<StoreFile> resume(const std::string& folder);
  // To look at it, also while somebody adds to it.
  static Result<StoreFile> read(const std::string& folder);

  const std::string& folder() const { return folder_; }
  std::string path() const { return folder_ + "/" + std::string(file_name); }
  sqlite3* db() const { return db_.get(); }
  Error error(int code) const;                          // what a code of SQLite means for this file
  Error wrong_content(std::string_view message) const;  // the same sentence, with the file in front

  // The first value of a query with at most one parameter.
  Result<std::string> value(const char* sql, std::string_view parameter = {}) const;
  Result<std::string> about(std::string_view name) const;
  double about_number(std::string_view name) const;  // 0 if there is none
  Status set_about(std::string_view name, std::string_view value) const;
  Status add_to_about(std::string_view name, double value) const;

  // All that f writes, or, on an error, nothing.
  template <class F>
  Status transaction(F f) const {
    if (Status begun = execute("BEGIN IMMEDIATE"); !begun) return begun;
    Status status = f();
    if (status) status = execute("COMMIT");
    if (!status) sqlite3_exec(db(), "ROLLBACK", nullptr, nullptr, nullptr);
    return status;
  }

  // f() at every row of a statement; the first error of either ends it.
  template <class F>
  Status for_each_row(Statement& statement, F f) const {
    int code = SQLITE_ROW;
    while ((code = statement.step()) == SQLITE_ROW)
      if (Status good = f(); !good) return good;
    if (code != SQLITE_DONE) return error(code);
    return Done{};
  }
  // A statement that gives no rows.
  Status run(Statement& statement) const {
    return for_each_row(statement, [] { return Status(Done{}); });
  }

 private:
  struct CloseDatabase {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };

  explicit StoreFile(std::string folder) : folder_(std::move(folder)) {}
  Status lock();
  Status open(int flags);
  void limit_reading() const;
  Status check_format() const;
  Status check_whole() const;
  Status execute(const char* sql) const;

  std::string folder_;
  std::shared_ptr<void> lock_;  // closes the locked file
  std::unique_ptr<sqlite3, CloseDatabase> db_;
};

}  // namespace nalm
