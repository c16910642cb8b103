#include "bench/run_store.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "bench/store_file.hpp"

namespace nalm {
namespace {

// Steps are kept as a plain number and floats as they are, so that what is read is what was trained.
constexpr const char* tables = R"(
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

// What makes a run unique within a store.
using Key = std::tuple<std::string, std::string, std::string, long long>;
Key key_of(const RunId& id) {
  return {std::string(id.module->name), std::string(name_of(id.operation)), name_of(id.range.train), id.seed};
}

}  // namespace

struct RunStore::State {
  StoreFile file;

  // Checks that it is not a store of one of the other tasks.
  static Result<RunStore> of(Result<StoreFile> file) {
    if (!file) return file.error();
    if (const Result<std::string> task = file->about("task"))
      return Error{
          fmt::format("{} holds results of the task {}, and not of the single module task; nalm table, compare, report "
                      "and bench --resume can use them.",
                      file->folder(), *task)};
    return RunStore(std::make_unique<State>(std::move(*file)));
  }
};

RunStore::RunStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore& RunStore::operator=(RunStore&&) noexcept = default;
RunStore::~RunStore() = default;

const std::string& RunStore::folder() const { return state_->file.folder(); }

Result<RunStore> RunStore::create(const std::string& folder, const StoreInfo& info) {
  return State::of(StoreFile::create(folder, tables,
                                     {{"version", info.version},
                                      {"simd_target", info.simd_target},
                                      {"created", info.created},
                                      {"command", info.command},
                                      {"threads", std::to_string(info.threads)},
                                      {"grid", to_json(info.grid)},
                                      {"seconds", "0"}}));
}
Result<RunStore> RunStore::resume(const std::string& folder) { return State::of(StoreFile::resume(folder)); }
Result<RunStore> RunStore::read(const std::string& folder) { return State::of(StoreFile::read(folder)); }

Result<StoreInfo> RunStore::info() const {
  const StoreFile& file = state_->file;
  StoreInfo info;
  std::string grid_text;
  if (Status read = file.about({{"version", &info.version},
                                {"simd_target", &info.simd_target},
                                {"created", &info.created},
                                {"command", &info.command},
                                {"grid", &grid_text}});
      !read)
    return read.error();
  Result<Grid> grid = grid_from_json(grid_text);
  if (!grid) return file.wrong_content(grid.error().message);
  info.grid = std::move(*grid);
  info.threads = static_cast<int>(file.about_number("threads"));
  info.seconds = file.about_number("seconds");
  info.timings = {file.about_number("data_seconds"), file.about_number("evaluation_seconds"),
                  file.about_number("training_seconds")};
  return info;
}

Status RunStore::add(const FinishedRuns& finished, double seconds) {
  const StoreFile& file = state_->file;
  return file.transaction([&]() -> Status {
    Result<Statement> run = Statement::prepare(file.db(),
                                               "INSERT INTO runs (module, operation, range, test_range, inputs, seed, "
                                               "recipe, seconds) VALUES (?,?,?,?,?,?,?,?)");
    if (!run) return run.error();
    Result<Statement> row = Statement::prepare(file.db(), "INSERT INTO series VALUES (?,?,?,?,?,?)");
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
      if (Status done = file.run(*run); !done) return done;
      const long long id_of_run = sqlite3_last_insert_rowid(file.db());
      const std::size_t width = series.rows() ? series.parameters.size() / series.rows() : 0;
      for (std::size_t r = 0; r < series.rows(); ++r) {
        row->reset();
        row->bind(0, id_of_run);
        row->bind(1, static_cast<long long>(series.steps[r]));
        row->bind(2, static_cast<double>(series.validation_mse[r]));
        row->bind(3, static_cast<double>(series.test_mse[r]));
        row->bind(4, series.sparsity_error[r]);
        row->bind_numbers(5, std::span<const float>(series.parameters.data() + r * width, width));
        if (Status done = file.run(*row); !done) return done;
      }
    }
    const std::pair<std::string_view, double> times[] = {{"seconds", seconds},
                                                         {"data_seconds", finished.timings.data},
                                                         {"evaluation_seconds", finished.timings.evaluation},
                                                         {"training_seconds", finished.timings.training}};
    for (const auto& [name, value] : times)
      if (Status set = file.add_to_about(name, value); !set) return set;
    return Done{};
  });
}

Result<std::vector<RunId>> RunStore::missing() const {
  const Result<StoreInfo> about = info();
  if (!about) return about.error();
  const StoreFile& file = state_->file;
  Result<Statement> query = Statement::prepare(file.db(), "SELECT module, operation, range, seed FROM runs");
  if (!query) return query.error();
  std::set<Key> stored;
  const Status read = file.for_each_row(*query, [&]() -> Status {
    stored.emplace(query->text(0), query->text(1), query->text(2), query->number(3));
    return Done{};
  });
  if (!read) return read.error();
  std::vector<RunId> missing;
  for (const RunId& id : runs_of(about->grid))
    if (!stored.contains(key_of(id))) missing.push_back(id);
  return missing;
}

Result<std::size_t> RunStore::run_count() const {
  Result<Statement> query = Statement::prepare(state_->file.db(), "SELECT count(*) FROM runs");
  if (!query) return query.error();
  if (const int code = query->step(); code != SQLITE_ROW) return state_->file.error(code);
  return static_cast<std::size_t>(query->number(0));
}

Result<std::vector<Run>> RunStore::runs(const std::optional<Pair>& pair) const {
  const Result<StoreInfo> about = info();
  if (!about) return about.error();
  const StoreFile& file = state_->file;
  std::string sql = "SELECT id, module, operation, range, seed, recipe FROM runs";
  if (pair) sql += " WHERE module = ? AND operation = ?";
  Result<Statement> query = Statement::prepare(file.db(), sql);
  if (!query) return query.error();
  if (pair) {
    query->bind(0, pair->module->name);
    query->bind(1, name_of(pair->operation));
  }
  Result<Statement> rows = Statement::prepare(
      file.db(),
      "SELECT step, validation_mse, test_mse, sparsity_error, parameters FROM series WHERE run = ? ORDER BY step");
  if (!rows) return rows.error();

  std::map<Key, Run> found;
  std::map<std::string, Recipe> recipes;  // the same few, thousands of times
  const Status read = file.for_each_row(*query, [&]() -> Status {
    const Result<const ModuleInfo*> module = find_module(query->text(1));
    if (!module) return file.wrong_content(module.error().message);
    const Result<Operation> operation = parse_operation(query->text(2));
    if (!operation) return file.wrong_content(operation.error().message);
    Run run;
    run.id = {*module, *operation, {}, about->grid.inputs, static_cast<std::uint32_t>(query->number(4))};
    const std::string range_name = query->text(3);
    for (const TaskRange& range : about->grid.ranges)
      if (name_of(range.train) == range_name) run.id.range = range;
    const std::string recipe_text = query->text(5);
    if (!recipes.contains(recipe_text)) {
      Result<Recipe> recipe = recipe_from_json(recipe_text);
      if (!recipe) return file.wrong_content(recipe.error().message);
      recipes[recipe_text] = std::move(*recipe);
    }
    run.recipe = recipes[recipe_text];
    rows->reset();
    rows->bind(0, query->number(0));
    const Status read_series = file.for_each_row(*rows, [&]() -> Status {
      run.series.steps.push_back(static_cast<long>(rows->number(0)));
      run.series.validation_mse.push_back(static_cast<float>(rows->real(1)));
      run.series.test_mse.push_back(static_cast<float>(rows->real(2)));
      run.series.sparsity_error.push_back(rows->real(3));
      const std::vector<float> parameters = rows->numbers<float>(4);
      run.series.parameters.insert(run.series.parameters.end(), parameters.begin(), parameters.end());
      return Done{};
    });
    if (!read_series) return read_series;
    found.emplace(key_of(run.id), std::move(run));
    return Done{};
  });
  if (!read) return read.error();

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
