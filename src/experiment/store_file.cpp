#include "experiment/store_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <system_error>

#include "base/number.hpp"

namespace nalm {
namespace {

namespace fs = std::filesystem;

constexpr int format_version = 2;  // 1 had a schema for the single module task and another one for the others

constexpr std::string_view lock_name = "lock";

constexpr const char* about_table =
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;";

Error explain_error(sqlite3* db, int code, std::string_view where) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {
          fmt::format("the disk is full, so {} could not be written; what was stored before is safe. Make room and "
                      "go on with --resume.",
                      where)};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return {fmt::format("{} cannot be written to ({}); check its permissions or choose another folder with --out.",
                          where, sqlite3_errstr(code))};
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return {fmt::format("{} is damaged or is not a run store ({}).", where, sqlite3_errstr(code))};
    case SQLITE_INTERRUPT:
      return {fmt::format("{} takes longer to read than any store of its size; nalm did not write it.", where)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {fmt::format("{} is in use by another program; try again when it has finished.", where)};
    default:
      return {fmt::format("{}: {} ({}).", where, db ? sqlite3_errmsg(db) : "no memory", sqlite3_errstr(code))};
  }
}

}  // namespace

bool is_part_of_store(const std::string& path) {
  constexpr std::string_view header("SQLite format 3\0", 16);
  // Without following the path into a pipe or a device, which would wait for somebody or give bytes without an end.
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  char head[header.size()] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  if (std::string_view(head, sizeof head) == header) return true;
  const fs::path place = fs::weakly_canonical(path, ignored);
  const std::string name = place.filename().string();
  const bool named_so = name == lock_name || name.starts_with(StoreFile::file_name);
  return named_so && fs::exists(place.parent_path() / StoreFile::file_name, ignored);
}

// ---- statements ----------------------------------------------------------------------------------------------------

Result<Statement> Statement::prepare(sqlite3* db, std::string_view sql) {
  Statement result;
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  if (code != SQLITE_OK) return explain_error(db, code, sqlite3_db_filename(db, "main"));
  result.statement_.reset(raw);
  return result;
}

void Statement::bind(int k, std::string_view text) {
  note(sqlite3_bind_text(get(), k + 1, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
}

void Statement::bind_bytes(int k, const void* values, std::size_t size) {
  // A null pointer would be a null, and not an empty list.
  note(sqlite3_bind_blob(get(), k + 1, size ? values : "", static_cast<int>(size), SQLITE_TRANSIENT));
}

// SQLite answers with nothing when memory is short, and that must not be taken for a value that is empty.
std::string Statement::text(int k) const {
  const unsigned char* value = sqlite3_column_text(get(), k);
  if (!value && sqlite3_column_type(get(), k) != SQLITE_NULL) throw std::bad_alloc();
  return value ? reinterpret_cast<const char*>(value) : "";
}

std::string_view Statement::bytes_of(int k) const {
  const void* bytes = sqlite3_column_blob(get(), k);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(get(), k));
  if (!bytes && size > 0) throw std::bad_alloc();
  return {static_cast<const char*>(bytes), size};
}

double Statement::real(int k) const {
  return sqlite3_column_type(get(), k) == SQLITE_NULL ? std::numeric_limits<double>::quiet_NaN()
                                                      : sqlite3_column_double(get(), k);
}

// ---- the lock ------------------------------------------------------------------------------------------------------

// Held until the program ends, however it ends.
Status StoreFile::lock() {
  const std::string path = fmt::format("{}/{}", folder_, lock_name);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return Error{
        fmt::format("{} cannot be written to ({}); choose another folder with --out.", folder_, std::strerror(errno))};
  }
  lock_ = std::shared_ptr<void>(nullptr, [descriptor](void*) { ::close(descriptor); });
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return Error{
          fmt::format("another nalm is writing to {}; wait for it, or choose another folder with --out.", folder_)};
    return Error{fmt::format("{}: the file cannot be locked ({}); choose a folder on another disk with --out.", path,
                             std::strerror(errno))};
  }
  return Done{};
}

// ---- the file ------------------------------------------------------------------------------------------------------

Status StoreFile::open(int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path().c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(raw);
  if (code != SQLITE_OK) return explain_error(raw, code, path());
  sqlite3_busy_timeout(raw, 10000);
  // A store may come from somebody else: what SQLite advises for files that are not trusted.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 256 * 1024 * 1024);
  if (Status done = execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON"); !done) return done;
  return Done{};
}

// A statement that reads a store takes a few thousand instructions for a kilobyte of it; one that takes many times as
// many was made to never end.
void StoreFile::limit_reading() const {
  constexpr std::uintmax_t least = 100'000'000, for_a_kilobyte = 20'000, most = std::numeric_limits<int>::max();
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path(), error);
  const std::uintmax_t wanted = error ? least : least + for_a_kilobyte * (size / 1024);
  sqlite3_progress_handler(
      db(), static_cast<int>(std::min(wanted, most)), [](void*) { return 1; }, nullptr);
}

// Checks that the file is a store of a format that this program knows.
Status StoreFile::check_format() const {
  // A view could be endless, and a trigger could do anything; a store has neither.
  const Result<std::string> foreign =
      value("SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL%'");
  if (!foreign) return foreign.error();
  if (*foreign != "0") return wrong_content("it has views or triggers, which no store of nalm has.");
  const Result<std::string> format = about("format");
  if (!format) return Error{fmt::format("{} is not a run store of nalm: {}", path(), format.error().message)};
  if (*format == std::to_string(format_version)) return Done{};
  const Result<std::string> version = about("version");
  return Error{fmt::format("{} has format {}, and this program knows {}; use version {} of nalm, which wrote it.",
                           path(), *format, format_version, version ? *version : "?")};
}

// Reads every page, so that no hours of work are added to a file that is broken.
Status StoreFile::check_whole() const {
  const Result<std::string> answer = value("PRAGMA quick_check(1)");
  if (!answer) return answer.error();
  if (*answer != "ok") return wrong_content(fmt::format("it is damaged ({}).", *answer));
  return Done{};
}

Status StoreFile::execute(const char* sql) const {
  const int code = sqlite3_exec(db(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Done{};
}

Error StoreFile::error(int code) const { return explain_error(db(), code, path()); }
Error StoreFile::wrong_content(std::string_view message) const { return {fmt::format("{}: {}", path(), message)}; }

Result<StoreFile> StoreFile::create(const std::string& folder, const char* tables, const Entries& about) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (std::error_code ignored; error && !fs::is_directory(folder, ignored)) {
    return Error{
        fmt::format("the folder {} cannot be made ({}); choose another one with --out.", folder, error.message())};
  }
  StoreFile file(folder);
  if (Status locked = file.lock(); !locked) return locked.error();
  // A file without tables is what is left when the program was killed in its first moment.
  if (fs::exists(file.path(), error) && fs::file_size(file.path(), error) > 0) {
    return Error{
        fmt::format("{0} already holds results; go on with \"nalm bench --resume {0}\", or choose another "
                    "folder with --out.",
                    folder)};
  }
  if (Status opened = file.open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE); !opened) return opened.error();
  if (Status done = file.execute("PRAGMA synchronous = FULL"); !done) return done.error();
  const Status made = file.transaction([&]() -> Status {
    if (Status done = file.execute(about_table); !done) return done;
    if (Status done = file.execute(tables); !done) return done;
    if (Status done = file.set_about("format", std::to_string(format_version)); !done) return done;
    for (const auto& [name, value] : about)
      if (Status done = file.set_about(name, value); !done) return done;
    return Done{};
  });
  if (!made) return made.error();
  return file;
}

Result<StoreFile> StoreFile::resume(const std::string& folder) {
  StoreFile file(folder);
  if (std::error_code error; !fs::exists(file.path(), error)) {
    return Error{fmt::format("{} holds no results to go on with (there is no {}); start with \"nalm bench --out {}\".",
                             folder, file_name, folder)};
  }
  if (Status locked = file.lock(); !locked) return locked.error();
  if (std::error_code error; fs::file_size(file.path(), error) == 0) {
    return Error{fmt::format("{} was left before anything was stored in it; start again with \"nalm bench --out {}\".",
                             folder, folder)};
  }
  if (Status opened = file.open(SQLITE_OPEN_READWRITE); !opened) return opened.error();
  file.limit_reading();
  if (Status done = file.execute("PRAGMA synchronous = FULL"); !done) return done.error();
  if (Status done = file.check_format(); !done) return done.error();
  if (Status done = file.check_whole(); !done) return done.error();
  sqlite3_progress_handler(file.db(), 0, nullptr, nullptr);  // it grows from here on
  return file;
}

Result<StoreFile> StoreFile::read(const std::string& folder) {
  StoreFile file(folder);
  if (std::error_code error; !fs::exists(file.path(), error)) {
    return Error{fmt::format("{} holds no results (there is no {}); make some with \"nalm bench --out {}\".", folder,
                             file_name, folder)};
  }
  // A program that was killed while it wrote leaves a journal; only a writer may roll it back.
  if (Status opened = file.open(SQLITE_OPEN_READWRITE); !opened) return opened.error();
  file.limit_reading();
  if (Status done = file.check_format(); !done) return done.error();
  return file;
}

// ---- what it says about itself -------------------------------------------------------------------------------------

Result<std::string> StoreFile::about(std::string_view name) const {
  return value("SELECT value FROM about WHERE name = ?", name);
}

Result<std::string> StoreFile::value(const char* sql, std::string_view parameter) const {
  Result<Statement> query = Statement::prepare(db(), sql);
  if (!query) return query.error();
  if (!parameter.empty()) query->bind(0, parameter);
  const int code = query->step();
  if (code == SQLITE_DONE) return Error{fmt::format("it has no entry \"{}\".", parameter)};
  if (code != SQLITE_ROW) return error(code);
  return query->text(0);
}

double StoreFile::about_number(std::string_view name) const {
  const Result<std::string> text = about(name);
  return text ? number_of(*text).value_or(0) : 0.0;
}

Status StoreFile::set_about(std::string_view name, std::string_view value) const {
  Result<Statement> insert =
      Statement::prepare(db(), "INSERT INTO about VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value");
  if (!insert) return insert.error();
  insert->bind_all(name, value);
  return run(*insert);
}

Status StoreFile::add_to_about(std::string_view name, double value) const {
  return set_about(name, fmt::format("{}", about_number(name) + value));
}

}  // namespace nalm
