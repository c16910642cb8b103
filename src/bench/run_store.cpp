#include "bench/run_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

namespace nalm {
namespace {

namespace fs = std::filesystem;

constexpr int format_version = 1;

// Steps are kept as a plain number and floats as they are, so that what is read is what was trained.
constexpr const char* schema = R"(
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  module TEXT NOT NULL, operation TEXT NOT NULL, range TEXT NOT NULL, test_range TEXT NOT NULL,
  inputs INTEGER NOT NULL, seed INTEGER NOT NULL,
  recipe TEXT NOT NULL,
  seconds REAL NOT NULL,
  UNIQUE (module, operation, range, inputs, seed)
) STRICT;
CREATE TABLE series (
  run INTEGER NOT NULL REFERENCES runs (id), step INTEGER NOT NULL,
  validation_mse REAL, test_mse REAL, sparsity_error REAL,  -- null: not a number
  parameters BLOB NOT NULL,                                 -- float32, little-endian, in the order of the model file
  PRIMARY KEY (run, step)
) STRICT, WITHOUT ROWID;
)";

// A lock on a file, held until the program ends, however it ends.
class FileLock {
 public:
  FileLock() = default;
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  static Result<FileLock> take(const std::string& folder) {
    const std::string path = folder + "/lock";
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      return Error{
          fmt::format("{} cannot be written to ({}); choose another folder with --out.", folder, std::strerror(errno))};
    }
    FileLock lock(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      return Error{
          fmt::format("another nalm is writing to {}; wait for it, or choose another folder with --out.", folder)};
    }
    return lock;
  }

 private:
  int descriptor_ = -1;
};

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

// A prepared statement. Columns and parameters count from 0.
class Statement {
 public:
  static Result<Statement> prepare(sqlite3* db, std::string_view sql);

  void bind(int k, std::string_view text) {
    sqlite3_bind_text(get(), k + 1, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  void bind(int k, long long value) { sqlite3_bind_int64(get(), k + 1, value); }
  void bind(int k, double value) { sqlite3_bind_double(get(), k + 1, value); }  // NaN becomes null
  void bind_floats(int k, const float* values, std::size_t count) {
    sqlite3_bind_blob(get(), k + 1, values, static_cast<int>(count * sizeof(float)), SQLITE_TRANSIENT);
  }

  int step() { return sqlite3_step(get()); }
  void reset() { sqlite3_reset(get()); }

  std::string text(int k) const {
    const unsigned char* value = sqlite3_column_text(get(), k);
    return value ? reinterpret_cast<const char*>(value) : "";
  }
  long long number(int k) const { return sqlite3_column_int64(get(), k); }
  double real(int k) const {
    return sqlite3_column_type(get(), k) == SQLITE_NULL ? std::numeric_limits<double>::quiet_NaN()
                                                        : sqlite3_column_double(get(), k);
  }
  std::vector<float> floats(int k) const {
    std::vector<float> values(static_cast<std::size_t>(sqlite3_column_bytes(get(), k)) / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), sqlite3_column_blob(get(), k), values.size() * sizeof(float));
    return values;
  }

 private:
  sqlite3_stmt* get() const { return statement_.get(); }
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

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
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {fmt::format("{} is in use by another program; try again when it has finished.", where)};
    default:
      return {fmt::format("{}: {} ({}).", where, db ? sqlite3_errmsg(db) : "no memory", sqlite3_errstr(code))};
  }
}

Result<Statement> Statement::prepare(sqlite3* db, std::string_view sql) {
  Statement result;
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  if (code != SQLITE_OK) return explain_error(db, code, sqlite3_db_filename(db, "main"));
  result.statement_.reset(raw);
  return result;
}

Status execute(sqlite3* db, const char* sql) {
  const int code = sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return explain_error(db, code, sqlite3_db_filename(db, "main"));
  return Done{};
}

// What makes a run unique within a store.
using Key = std::tuple<std::string, std::string, std::string, long long>;
Key key_of(const RunId& id) {
  return {std::string(id.module->name), std::string(name_of(id.operation)), name_of(id.range.train), id.seed};
}

}  // namespace

struct RunStore::State {
  std::string folder;
  FileLock lock;
  Database db;

  std::string file() const { return folder + "/" + std::string(file_name); }

  Status open(int flags) {
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(file().c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    db.reset(raw);
    if (code != SQLITE_OK) return explain_error(raw, code, file());
    sqlite3_busy_timeout(raw, 10000);
    return Done{};
  }

  // Checks that the file is a store of a kind this program knows.
  Status check_format() const {
    const Result<std::string> format = about("format");
    if (!format) return Error{fmt::format("{} is not a run store of nalm: {}", file(), format.error().message)};
    if (*format != std::to_string(format_version)) {
      return Error{fmt::format("{} has format {}, and this program knows {}; use the version of nalm that wrote it.",
                               file(), *format, format_version)};
    }
    return Done{};
  }

  Result<std::string> about(std::string_view name) const {
    Result<Statement> query = Statement::prepare(db.get(), "SELECT value FROM about WHERE name = ?");
    if (!query) return query.error();
    query->bind(0, name);
    const int code = query->step();
    if (code == SQLITE_DONE) return Error{fmt::format("it has no entry \"{}\".", name)};
    if (code != SQLITE_ROW) return explain_error(db.get(), code, file());
    return query->text(0);
  }

  Status set_about(std::string_view name, std::string_view value) const {
    Result<Statement> insert = Statement::prepare(
        db.get(), "INSERT INTO about VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value");
    if (!insert) return insert.error();
    insert->bind(0, name);
    insert->bind(1, value);
    if (const int code = insert->step(); code != SQLITE_DONE) return explain_error(db.get(), code, file());
    return Done{};
  }

  double about_number(std::string_view name) const {
    const Result<std::string> text = about(name);
    return text ? std::strtod(text->c_str(), nullptr) : 0.0;
  }
};

RunStore::RunStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore& RunStore::operator=(RunStore&&) noexcept = default;
RunStore::~RunStore() = default;

const std::string& RunStore::folder() const { return state_->folder; }

Result<RunStore> RunStore::create(const std::string& folder, const StoreInfo& info) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (std::error_code ignored; error && !fs::is_directory(folder, ignored)) {
    return Error{
        fmt::format("the folder {} cannot be made ({}); choose another one with --out.", folder, error.message())};
  }
  auto state = std::make_unique<State>();
  state->folder = folder;
  Result<FileLock> lock = FileLock::take(folder);
  if (!lock) return lock.error();
  state->lock = std::move(*lock);
  // A file without tables is what is left when the program was killed in its first moment.
  if (fs::exists(state->file(), error) && fs::file_size(state->file(), error) > 0) {
    return Error{
        fmt::format("{0} already holds results; go on with \"nalm bench --resume {0}\", or choose another "
                    "folder with --out.",
                    folder)};
  }
  if (Status opened = state->open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE); !opened) return opened.error();
  sqlite3* db = state->db.get();
  if (Status done = execute(db, "PRAGMA synchronous = FULL; BEGIN IMMEDIATE"); !done) return done.error();
  if (Status done = execute(db, schema); !done) return done.error();
  const std::pair<std::string_view, std::string> entries[] = {
      {"format", std::to_string(format_version)},
      {"version", info.version},
      {"simd_target", info.simd_target},
      {"created", info.created},
      {"command", info.command},
      {"threads", std::to_string(info.threads)},
      {"grid", to_json(info.grid)},
      {"seconds", "0"},
  };
  for (const auto& [name, value] : entries) {
    if (Status done = state->set_about(name, value); !done) return done.error();
  }
  if (Status done = execute(db, "COMMIT"); !done) return done.error();
  return RunStore(std::move(state));
}

Result<RunStore> RunStore::resume(const std::string& folder) {
  auto state = std::make_unique<State>();
  state->folder = folder;
  if (std::error_code error; !fs::exists(state->file(), error)) {
    return Error{fmt::format("{} holds no results to go on with (there is no {}); start with \"nalm bench --out {}\".",
                             folder, file_name, folder)};
  }
  Result<FileLock> lock = FileLock::take(folder);
  if (!lock) return lock.error();
  state->lock = std::move(*lock);
  if (std::error_code error; fs::file_size(state->file(), error) == 0) {
    return Error{fmt::format("{} was left before anything was stored in it; start again with \"nalm bench --out {}\".",
                             folder, folder)};
  }
  if (Status opened = state->open(SQLITE_OPEN_READWRITE); !opened) return opened.error();
  if (Status done = execute(state->db.get(), "PRAGMA synchronous = FULL"); !done) return done.error();
  if (Status done = state->check_format(); !done) return done.error();
  return RunStore(std::move(state));
}

Result<RunStore> RunStore::read(const std::string& folder) {
  auto state = std::make_unique<State>();
  state->folder = folder;
  if (std::error_code error; !fs::exists(state->file(), error)) {
    return Error{fmt::format("{} holds no results (there is no {}); make some with \"nalm bench --out {}\".", folder,
                             file_name, folder)};
  }
  // A program that was killed while it wrote leaves a journal; only a writer may roll it back.
  if (Status opened = state->open(SQLITE_OPEN_READWRITE); !opened) return opened.error();
  if (Status done = state->check_format(); !done) return done.error();
  return RunStore(std::move(state));
}

Result<StoreInfo> RunStore::info() const {
  StoreInfo info;
  const std::pair<std::string_view, std::string*> entries[] = {{"version", &info.version},
                                                               {"simd_target", &info.simd_target},
                                                               {"created", &info.created},
                                                               {"command", &info.command}};
  for (const auto& [name, value] : entries) {
    Result<std::string> text = state_->about(name);
    if (!text) return Error{fmt::format("{}: {}", state_->file(), text.error().message)};
    *value = std::move(*text);
  }
  const Result<std::string> grid_text = state_->about("grid");
  if (!grid_text) return Error{fmt::format("{}: {}", state_->file(), grid_text.error().message)};
  Result<Grid> grid = grid_from_json(*grid_text);
  if (!grid) return Error{fmt::format("{}: {}", state_->file(), grid.error().message)};
  info.grid = std::move(*grid);
  info.threads = static_cast<int>(state_->about_number("threads"));
  info.seconds = state_->about_number("seconds");
  info.timings = {state_->about_number("data_seconds"), state_->about_number("evaluation_seconds"),
                  state_->about_number("training_seconds")};
  return info;
}

Status RunStore::add(const FinishedRuns& finished, double seconds) {
  sqlite3* db = state_->db.get();
  if (Status begun = execute(db, "BEGIN IMMEDIATE"); !begun) return begun;
  const auto insert_all = [&]() -> Status {
    Result<Statement> run = Statement::prepare(db,
                                               "INSERT INTO runs (module, operation, range, test_range, inputs, seed, "
                                               "recipe, seconds) VALUES (?,?,?,?,?,?,?,?)");
    if (!run) return run.error();
    Result<Statement> row = Statement::prepare(db, "INSERT INTO series VALUES (?,?,?,?,?,?)");
    if (!row) return row.error();
    for (std::size_t k = 0; k < finished.runs.size(); ++k) {
      const auto& [id, recipe, series] = finished.runs[k];
      run->reset();
      run->bind(0, id.module->name);
      run->bind(1, name_of(id.operation));
      run->bind(2, name_of(id.range.train));
      run->bind(3, name_of(id.range.test));
      run->bind(4, static_cast<long long>(id.inputs));
      run->bind(5, static_cast<long long>(id.seed));
      run->bind(6, to_json(recipe));
      run->bind(7, finished.seconds[k]);
      if (const int code = run->step(); code != SQLITE_DONE) return explain_error(db, code, state_->file());
      const long long id_of_run = sqlite3_last_insert_rowid(db);
      const std::size_t width = series.rows() ? series.parameters.size() / series.rows() : 0;
      for (std::size_t r = 0; r < series.rows(); ++r) {
        row->reset();
        row->bind(0, id_of_run);
        row->bind(1, static_cast<long long>(series.steps[r]));
        row->bind(2, static_cast<double>(series.validation_mse[r]));
        row->bind(3, static_cast<double>(series.test_mse[r]));
        row->bind(4, series.sparsity_error[r]);
        row->bind_floats(5, series.parameters.data() + r * width, width);
        if (const int code = row->step(); code != SQLITE_DONE) return explain_error(db, code, state_->file());
      }
    }
    const std::pair<std::string_view, double> times[] = {{"seconds", seconds},
                                                         {"data_seconds", finished.timings.data},
                                                         {"evaluation_seconds", finished.timings.evaluation},
                                                         {"training_seconds", finished.timings.training}};
    for (const auto& [name, value] : times) {
      if (Status set = state_->set_about(name, fmt::format("{}", state_->about_number(name) + value)); !set) return set;
    }
    return Done{};
  };
  Status status = insert_all();
  if (status) status = execute(db, "COMMIT");
  if (!status) sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

Result<std::vector<RunId>> RunStore::missing() const {
  const Result<StoreInfo> about = info();
  if (!about) return about.error();
  Result<Statement> query = Statement::prepare(state_->db.get(), "SELECT module, operation, range, seed FROM runs");
  if (!query) return query.error();
  std::set<Key> stored;
  int code;
  while ((code = query->step()) == SQLITE_ROW)
    stored.emplace(query->text(0), query->text(1), query->text(2), query->number(3));
  if (code != SQLITE_DONE) return explain_error(state_->db.get(), code, state_->file());
  std::vector<RunId> missing;
  for (const RunId& id : runs_of(about->grid))
    if (!stored.contains(key_of(id))) missing.push_back(id);
  return missing;
}

Result<std::size_t> RunStore::run_count() const {
  Result<Statement> query = Statement::prepare(state_->db.get(), "SELECT count(*) FROM runs");
  if (!query) return query.error();
  if (const int code = query->step(); code != SQLITE_ROW) return explain_error(state_->db.get(), code, state_->file());
  return static_cast<std::size_t>(query->number(0));
}

Result<std::vector<Run>> RunStore::runs(const std::optional<Pair>& pair) const {
  const Result<StoreInfo> about = info();
  if (!about) return about.error();
  sqlite3* db = state_->db.get();
  std::string sql = "SELECT id, module, operation, range, seed, recipe FROM runs";
  if (pair) sql += " WHERE module = ? AND operation = ?";
  Result<Statement> query = Statement::prepare(db, sql);
  if (!query) return query.error();
  if (pair) {
    query->bind(0, pair->module->name);
    query->bind(1, name_of(pair->operation));
  }
  Result<Statement> rows = Statement::prepare(
      db, "SELECT step, validation_mse, test_mse, sparsity_error, parameters FROM series WHERE run = ? ORDER BY step");
  if (!rows) return rows.error();

  std::map<Key, Run> found;
  std::map<std::string, Recipe> recipes;  // the same few, thousands of times
  int code;
  while ((code = query->step()) == SQLITE_ROW) {
    const Result<const ModuleInfo*> module = find_module(query->text(1));
    if (!module) return Error{fmt::format("{}: {}", state_->file(), module.error().message)};
    const Result<Operation> operation = parse_operation(query->text(2));
    if (!operation) return Error{fmt::format("{}: {}", state_->file(), operation.error().message)};
    Run run;
    run.id = {*module, *operation, {}, about->grid.inputs, static_cast<std::uint32_t>(query->number(4))};
    const std::string range_name = query->text(3);
    for (const TaskRange& range : about->grid.ranges)
      if (name_of(range.train) == range_name) run.id.range = range;
    const std::string recipe_text = query->text(5);
    if (!recipes.contains(recipe_text)) {
      Result<Recipe> recipe = recipe_from_json(recipe_text);
      if (!recipe) return Error{fmt::format("{}: {}", state_->file(), recipe.error().message)};
      recipes[recipe_text] = std::move(*recipe);
    }
    run.recipe = recipes[recipe_text];
    rows->reset();
    rows->bind(0, query->number(0));
    int row_code;
    while ((row_code = rows->step()) == SQLITE_ROW) {
      run.series.steps.push_back(static_cast<long>(rows->number(0)));
      run.series.validation_mse.push_back(static_cast<float>(rows->real(1)));
      run.series.test_mse.push_back(static_cast<float>(rows->real(2)));
      run.series.sparsity_error.push_back(rows->real(3));
      const std::vector<float> parameters = rows->floats(4);
      run.series.parameters.insert(run.series.parameters.end(), parameters.begin(), parameters.end());
    }
    if (row_code != SQLITE_DONE) return explain_error(db, row_code, state_->file());
    found.emplace(key_of(run.id), std::move(run));
  }
  if (code != SQLITE_DONE) return explain_error(db, code, state_->file());

  std::vector<Run> result;
  for (const Pair& p : about->grid.pairs) {
    if (pair && !(p == *pair)) continue;
    for (const TaskRange& range : about->grid.ranges) {
      for (const std::uint32_t seed : about->grid.seeds) {
        const auto at = found.find(key_of({p.module, p.operation, range, about->grid.inputs, seed}));
        if (at != found.end()) result.push_back(std::move(at->second));
      }
    }
  }
  return result;
}

}  // namespace nalm
