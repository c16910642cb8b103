#include "experiment/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include "base/json.hpp"

#include "base/hash.hpp"
#include "experiment/store_file.hpp"
#include "train/recipe_fields.hpp"

namespace nalm {
namespace {

// Numbers are kept as they are in memory, so that what is read is what was trained.
constexpr const char* run_tables = R"(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL, operation TEXT NOT NULL, setting TEXT NOT NULL, seed INTEGER NOT NULL,
  recipe TEXT NOT NULL, stack TEXT NOT NULL,
  seconds REAL NOT NULL,
  note TEXT NOT NULL, facts TEXT NOT NULL,
  checksum INTEGER NOT NULL,  -- of the run and its rows
  UNIQUE (model, operation, setting, seed)
) STRICT;
CREATE TABLE series (
  run INTEGER NOT NULL REFERENCES runs (id), step INTEGER NOT NULL,
  measured BLOB NOT NULL,    -- float64, little-endian, in the order of the task's measures
  parameters BLOB NOT NULL,  -- layer by layer, as trained: float32 or float64, little-endian; empty if not kept
  PRIMARY KEY (run, step)
) STRICT, WITHOUT ROWID;
)";

constexpr const char* rows_of_run = "SELECT step, measured, parameters FROM series WHERE run = ? ORDER BY step";

constexpr std::pair<std::string_view, std::string StoreInfo::*> texts_of_info[] = {
    {"version", &StoreInfo::version},
    {"simd_target", &StoreInfo::simd_target},
    {"created", &StoreInfo::created},
    {"command", &StoreInfo::command}};

using CellKey = std::tuple<std::string, std::string, std::string>;
CellKey key_of(const Cell& cell) { return {cell.model, cell.operation, cell.setting}; }

bool kept_as_float(const Cell& cell) { return !cell.own && cell.precision == Precision::Float; }

std::string_view bytes_of(const auto& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])};
}

std::string facts_to_json(const RunRecord& record) {
  Json facts = Json::array();
  for (const auto& [name, value] : record.facts) facts.push_back({name, value});
  return facts.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Of everything that a run logged.
std::uint64_t checksum(const Cell& cell, std::uint32_t seed, const RunRecord& record) {
  std::uint64_t sum = hash_of(fmt::format("{}|{}|{}|{}", cell.name(), seed, record.note, record.rows()));
  sum = hash_of(facts_to_json(record), sum);
  sum = hash_of(bytes_of(record.steps), sum);
  for (const auto* rows : {&record.values, &record.parameters})
    for (const std::vector<double>& row : *rows) sum = hash_of(bytes_of(row), sum);
  return sum;
}

}  // namespace

struct Store::State {
  StoreFile file;
  StoreInfo info;
  std::vector<Cell> cells;
  std::vector<std::string> left_out;
  std::map<CellKey, std::size_t> positions;  // of cells

  explicit State(StoreFile opened) : file(std::move(opened)) {}

  // Making cells can take a while: a caller may have them.
  static Result<Store> of(Result<StoreFile> opened, std::optional<std::vector<Cell>> known = {},
                          std::vector<std::string> left_out = {}) {
    if (!opened) return opened.error();
    auto state = std::make_unique<State>(std::move(*opened));
    const StoreFile& file = state->file;
    StoreInfo& info = state->info;
    for (const auto& [name, text] : texts_of_info) {
      Result<std::string> stored = file.about(name);
      if (!stored) return file.wrong_content(stored.error().message);
      info.*text = std::move(*stored);
    }
    const Result<std::string> plan_text = file.about("plan");
    if (!plan_text) return file.wrong_content(plan_text.error().message);
    Result<Plan> plan = plan_from_json(*plan_text);
    if (!plan) return file.wrong_content(plan.error().message);
    info.plan = std::move(*plan);
    info.threads = static_cast<int>(std::clamp(file.about_number("threads"), 0.0, 1e6));
    info.seconds = file.about_number("seconds");
    if (Result<std::string> shard = file.about("shard")) info.shard = std::move(*shard);
    if (!known) {
      Result<std::vector<Cell>> cells = cells_of(info.plan, left_out);
      if (!cells) return file.wrong_content(cells.error().message);
      known = std::move(*cells);
    }
    state->cells = std::move(*known);
    state->left_out = std::move(left_out);
    for (std::size_t c = 0; c < state->cells.size(); ++c) state->positions[key_of(state->cells[c])] = c;
    return Store(std::move(state));
  }

  Error other_version(const std::string& name) const {
    return file.wrong_content(fmt::format("the run {} is not as this version's task {} has it; use version {} of nalm.",
                                          name, info.plan.task->name, info.version));
  }

  // f(cell, seed, id) of every run that is stored; its first error ends it.
  template <class F>
  Status for_each_id(F f) const {
    Result<Statement> list = Statement::prepare(file.db(), "SELECT id, model, operation, setting, seed FROM runs");
    if (!list) return list.error();
    std::size_t left = cells.size() * info.plan.seeds.size();  // a file can be made so that rows never end
    return file.for_each_row(*list, [&]() -> Status {
      if (left-- == 0) return file.wrong_content("it has more runs than its plan, which no store of nalm has.");
      const auto at = positions.find({list->text(1), list->text(2), list->text(3)});
      const std::string name = fmt::format("{} | {} | {}", list->text(1), list->text(2), list->text(3));
      return at == positions.end() ? Status(other_version(name)) : f(at->second, list->number(4), list->number(0));
    });
  }

  // The row of the table `runs` at which the statement stands, with its series; the columns are those of `runs`.
  Result<FinishedRun> read_run(const Statement& at, Statement& rows, std::size_t position) const {
    const Cell& cell = cells[position];
    FinishedRun run;
    run.id = {position, static_cast<std::uint32_t>(at.number(1))};
    run.seconds = at.real(2);
    run.record.note = at.text(3);
    const Result<Json> facts = parse_json(at.text(4), "list of facts about a run");
    if (!facts || !facts->is_array()) return file.wrong_content("the facts about a run cannot be read.");
    for (const Json& fact : *facts)
      if (fact.is_array() && fact.size() == 2 && fact[0].is_string() && fact[1].is_string())
        run.record.facts.emplace_back(fact[0], fact[1]);
    rows.reset();
    rows.bind(0, at.number(0));
    const Status read = file.for_each_row(rows, [&]() -> Status {
      run.record.steps.push_back(static_cast<long>(rows.number(0)));
      run.record.values.push_back(rows.numbers<double>(1));
      if (run.record.values.back().size() != cell.measures.size()) return other_version(cell.name());
      if (kept_as_float(cell)) {
        const std::vector<float> parameters = rows.numbers<float>(2);
        run.record.parameters.emplace_back(parameters.begin(), parameters.end());
      } else {
        run.record.parameters.push_back(rows.numbers<double>(2));
      }
      return Done{};
    });
    if (!read) return read.error();
    if (std::bit_cast<std::uint64_t>(at.number(5)) != checksum(cell, run.id.seed, run.record))
      return file.wrong_content(
          fmt::format("the run {} with seed {} is not as it was stored: the file is damaged or was changed.",
                      cell.name(), run.id.seed));
    return run;
  }
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const StoreInfo& Store::info() const { return state_->info; }
const std::vector<Cell>& Store::cells() const { return state_->cells; }
const std::vector<std::string>& Store::left_out() const { return state_->left_out; }
const std::string& Store::folder() const { return state_->file.folder(); }
std::size_t Store::run_count() const { return state_->cells.size() * state_->info.plan.seeds.size(); }

Result<Store> Store::create(const std::string& folder, const StoreInfo& info) {
  std::vector<std::string> left_out;
  Result<std::vector<Cell>> cells = cells_of(info.plan, left_out);
  if (!cells) return cells.error();
  StoreFile::Entries about{{"threads", std::to_string(info.threads)}, {"plan", to_json(info.plan)}, {"seconds", "0"}};
  for (const auto& [name, text] : texts_of_info) about.emplace_back(name, info.*text);
  if (!info.shard.empty()) about.emplace_back("shard", info.shard);
  return State::of(StoreFile::create(folder, run_tables, about), std::move(*cells), std::move(left_out));
}
Result<Store> Store::resume(const std::string& folder) { return State::of(StoreFile::resume(folder)); }
Result<Store> Store::read(const std::string& folder) { return State::of(StoreFile::read(folder)); }

Status Store::add(const FinishedRuns& finished, double seconds) {
  const StoreFile& file = state_->file;
  Status added = file.transaction([&]() -> Status {
    Result<Statement> run = Statement::prepare(file.db(),
                                               "INSERT INTO runs (model, operation, setting, seed, recipe, stack, "
                                               "seconds, note, facts, checksum) VALUES (?,?,?,?,?,?,?,?,?,?)");
    if (!run) return run.error();
    Result<Statement> row = Statement::prepare(file.db(), "INSERT INTO series VALUES (?,?,?,?)");
    if (!row) return row.error();
    for (const auto& [id, record, run_seconds] : finished.runs) {
      const Cell& cell = state_->cells[id.cell];
      run->reset();
      run->bind_all(cell.model, cell.operation, cell.setting, static_cast<long long>(id.seed),
                    cell.own ? "{}" : to_json(cell.recipe), cell.own ? "" : print(cell.stack), run_seconds, record.note,
                    facts_to_json(record), std::bit_cast<long long>(checksum(cell, id.seed, record)));
      if (Status done = file.run(*run); !done) return done;
      const long long id_of_run = sqlite3_last_insert_rowid(file.db());
      for (std::size_t r = 0; r < record.rows(); ++r) {
        row->reset();
        row->bind_all(id_of_run, static_cast<long long>(record.steps[r]), record.values[r]);
        const std::vector<double> parameters =
            r < record.parameters.size() ? record.parameters[r] : std::vector<double>{};
        if (kept_as_float(cell)) {
          row->bind(3, std::vector<float>(parameters.begin(), parameters.end()));
        } else {
          row->bind(3, parameters);
        }
        if (Status done = file.run(*row); !done) return done;
      }
    }
    for (const auto& [name, value] : finished.timings)
      if (Status set = file.add_to_about(name, value); !set) return set;
    return file.add_to_about("seconds", seconds);
  });
  if (added) state_->info.seconds += seconds;
  return added;
}

Result<std::vector<RunId>> Store::missing() const {
  std::set<std::pair<std::size_t, long long>> stored;
  const Status read = state_->for_each_id([&](std::size_t cell, long long seed, long long) -> Status {
    stored.emplace(cell, seed);
    return Done{};
  });
  if (!read) return read.error();
  std::vector<RunId> missing;
  for (const std::uint32_t seed : state_->info.plan.seeds)
    for (std::size_t cell = 0; cell < state_->cells.size(); ++cell)
      if (!stored.contains({cell, seed})) missing.push_back({cell, seed});
  return missing;
}

Result<std::optional<FinishedRun>> Store::find(const RunId& id) const {
  const StoreFile& file = state_->file;
  Result<Statement> one =
      Statement::prepare(file.db(),
                         "SELECT id, seed, seconds, note, facts, checksum FROM runs WHERE model = ? "
                         "AND operation = ? AND setting = ? AND seed = ?");
  if (!one) return one.error();
  Result<Statement> rows = Statement::prepare(file.db(), rows_of_run);
  if (!rows) return rows.error();
  const Cell& cell = state_->cells[id.cell];
  one->bind_all(cell.model, cell.operation, cell.setting, static_cast<long long>(id.seed));
  const int code = one->step();
  if (code == SQLITE_DONE) return std::optional<FinishedRun>();
  if (code != SQLITE_ROW) return file.error(code);
  Result<FinishedRun> run = state_->read_run(*one, *rows, id.cell);
  if (!run) return run.error();
  return std::optional<FinishedRun>(std::move(*run));
}

Status Store::for_each_run(const std::function<Status(const FinishedRun&)>& f, std::optional<std::size_t> cell) const {
  const StoreFile& file = state_->file;
  std::map<long long, std::size_t> seeds;  // their order in the plan
  for (const std::uint32_t seed : state_->info.plan.seeds) seeds.emplace(seed, seeds.size());
  // The order first: the rows of all runs at once would be the largest thing in memory.
  std::vector<std::tuple<std::size_t, std::size_t, long long>> order;  // cell, seed's place, id
  Status listed = state_->for_each_id([&](std::size_t position, long long seed, long long id) -> Status {
    const auto place = seeds.find(seed);
    if (place == seeds.end())
      return state_->other_version(fmt::format("{} | {}", state_->cells[position].name(), seed));
    if (!cell || *cell == position) order.emplace_back(position, place->second, id);
    return Done{};
  });
  if (!listed) return listed;
  std::sort(order.begin(), order.end());
  Result<Statement> one =
      Statement::prepare(file.db(), "SELECT id, seed, seconds, note, facts, checksum FROM runs WHERE id = ?");
  if (!one) return one.error();
  Result<Statement> rows = Statement::prepare(file.db(), rows_of_run);
  if (!rows) return rows.error();
  for (const auto& [position, seed, id] : order) {
    one->reset();
    one->bind(0, id);
    if (const int code = one->step(); code != SQLITE_ROW) return file.error(code);
    const Result<FinishedRun> run = state_->read_run(*one, *rows, position);
    if (!run) return run.error();
    if (Status done = f(*run); !done) return done;
  }
  return Done{};
}

}  // namespace nalm
