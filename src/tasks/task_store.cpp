#include "tasks/task_store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.hpp"
#include "bench/grid.hpp"
#include "bench/store_file.hpp"

namespace nalm {
namespace {

using nlohmann::json;

constexpr const char* tables = R"(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL, operation TEXT NOT NULL, setting TEXT NOT NULL, seed INTEGER NOT NULL,
  recipe TEXT NOT NULL, stack TEXT NOT NULL,
  seconds REAL NOT NULL,
  note TEXT NOT NULL,
  parameters BLOB NOT NULL,  -- of the judged row, layer by layer: float64, little-endian
  UNIQUE (model, operation, setting, seed)
) STRICT;
CREATE TABLE series (
  run INTEGER NOT NULL REFERENCES runs (id), step INTEGER NOT NULL,
  measured BLOB NOT NULL,  -- float64, little-endian, in the order of the task's measures
  PRIMARY KEY (run, step)
) STRICT, WITHOUT ROWID;
)";

// ---- which arms ----------------------------------------------------------------------------------------------------

// At commas, but not at those in "U[1,2)".
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == ',' && depth <= 0) {
      parts.emplace_back();
    } else if (c != ' ' || !parts.back().empty()) {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part.erase(part.find_last_not_of(' ') + 1);
  return parts;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

// The names in a list, of which some have commas themselves: what is no name alone may be one with what follows.
std::vector<std::string> names_in(std::string_view text, const std::vector<std::string>& known) {
  const std::vector<std::string> parts = split(text);
  std::vector<std::string> names;
  for (std::size_t first = 0; first < parts.size();) {
    const auto is_known = [&](const std::string& name) {
      return std::any_of(known.begin(), known.end(), [&](const std::string& k) { return same_name(k, name); });
    };
    std::string name = parts[first], longer = name;
    std::size_t next = first + 1;
    for (std::size_t end = next; end < parts.size() && !is_known(name); ++end) {
      longer += ", " + parts[end];
      if (is_known(longer)) name = longer, next = end + 1;
    }
    names.push_back(std::move(name));
    first = next;
  }
  return names;
}

// Leaves the arms whose part (model, operation or setting) is named.
Status keep(std::vector<Arm>& arms, std::string Arm::*part, std::string_view what, const std::string& wanted,
            const TaskPlan& plan) {
  if (wanted.empty()) return Done{};
  std::vector<std::string> known;
  for (const Arm& arm : arms)
    if (std::find(known.begin(), known.end(), arm.*part) == known.end()) known.push_back(arm.*part);
  if (known == std::vector<std::string>{""})
    return Error{fmt::format("the task {} has no {}s to choose from; leave the option away.", plan.task->name, what)};
  const std::vector<std::string> names = names_in(wanted, known);
  for (const std::string& name : names)
    if (std::none_of(known.begin(), known.end(), [&](const std::string& k) { return same_name(k, name); }))
      return Error{fmt::format(
          "the preset {} of the task {} has no {} \"{}\"{}; there is: {}.", plan.preset, plan.task->name, what, name,
          part != &Arm::model && !plan.models.empty() ? " for these models" : "", fmt::join(known, ", "))};
  std::erase_if(arms, [&](const Arm& arm) {
    return std::none_of(names.begin(), names.end(),
                        [&](const std::string& name) { return same_name(arm.*part, name); });
  });
  return Done{};
}

// ---- as text -------------------------------------------------------------------------------------------------------

std::string optional_json(const auto& value) { return value ? json(*value).dump() : "null"; }

template <class T>
Result<T> from_json(const std::string& text, std::string_view name) {
  const Result<json> value = parse_json<json>(text, "text");
  if (!value) return Error{fmt::format("the entry \"{}\" cannot be read: {}", name, value.error().message)};
  try {
    return value->get<T>();
  } catch (const json::exception& e) {
    return Error{fmt::format("the entry \"{}\" cannot be read: {}.", name, e.what())};
  }
}

template <class T>
Status read_optional(const std::string& text, std::string_view name, std::optional<T>& value) {
  if (text == "null") return Done{};
  const Result<T> read = from_json<T>(text, name);
  if (!read) return read.error();
  value = *read;
  return Done{};
}

struct Filters {
  std::string models, operations, settings;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Filters, models, operations, settings)

// An entry of the plan as text, and back.
Status read_plan(const StoreFile& file, TaskPlan& plan) {
  std::string task, filters, seeds, iterations, log_every, learning_rate;
  if (Status read = file.about({{"task", &task},
                                {"preset", &plan.preset},
                                {"filters", &filters},
                                {"seeds", &seeds},
                                {"iterations", &iterations},
                                {"log_every", &log_every},
                                {"learning_rate", &learning_rate}});
      !read)
    return read;
  const auto fill = [&]() -> Status {
    const Result<const Task*> found = find_task(task);
    if (!found) return found.error();
    plan.task = *found;
    const Result<Filters> names = from_json<Filters>(filters, "filters");
    if (!names) return names.error();
    plan.models = names->models, plan.operations = names->operations, plan.settings = names->settings;
    Result<std::vector<std::uint32_t>> numbers = from_json<std::vector<std::uint32_t>>(seeds, "seeds");
    if (!numbers) return numbers.error();
    plan.seeds = std::move(*numbers);
    if (Status read = read_optional(iterations, "iterations", plan.iterations); !read) return read;
    if (Status read = read_optional(log_every, "log_every", plan.log_every); !read) return read;
    return read_optional(learning_rate, "learning_rate", plan.learning_rate);
  };
  if (Status filled = fill(); !filled) return file.wrong_content(filled.error().message);
  return Done{};
}

using Key = std::tuple<std::string, std::string, std::string, long long>;
Key key_of(const Arm& arm, std::uint32_t seed) { return {arm.model, arm.operation, arm.setting, seed}; }

}  // namespace

Result<std::vector<Arm>> arms_of(const TaskPlan& plan) {
  if (const Result<const TaskPreset*> preset = find_preset(*plan.task, plan.preset); !preset) return preset.error();
  std::vector<Arm> arms = plan.task->arms(plan.preset);
  // Every name has to be there among what those before it left, so that something always remains.
  if (Status kept = keep(arms, &Arm::model, "model", plan.models, plan); !kept) return kept.error();
  if (Status kept = keep(arms, &Arm::operation, "operation", plan.operations, plan); !kept) return kept.error();
  if (Status kept = keep(arms, &Arm::setting, "setting", plan.settings, plan); !kept) return kept.error();
  return arms;
}

struct TaskStore::State {
  StoreFile file;
  TaskStoreInfo info;
  std::vector<Arm> arms;

  explicit State(StoreFile opened) : file(std::move(opened)) {}

  // Making arms can take a while: a caller may have them.
  static Result<TaskStore> of(Result<StoreFile> opened, std::optional<std::vector<Arm>> known = {}) {
    if (!opened) return opened.error();
    if (!opened->about("task"))
      return Error{fmt::format(
          "{} holds results of the single module task, and not of one of the tasks in \"nalm list --tasks\".",
          opened->folder())};
    auto state = std::make_unique<State>(std::move(*opened));
    const StoreFile& file = state->file;
    TaskStoreInfo& info = state->info;
    if (Status read = file.about({{"version", &info.version},
                                  {"simd_target", &info.simd_target},
                                  {"created", &info.created},
                                  {"command", &info.command}});
        !read)
      return read.error();
    if (Status read = read_plan(file, info.plan); !read) return read.error();
    info.threads = static_cast<int>(file.about_number("threads"));
    info.seconds = file.about_number("seconds");
    if (!known) {
      Result<std::vector<Arm>> arms = arms_of(info.plan);
      if (!arms) return file.wrong_content(arms.error().message);
      known = std::move(*arms);
    }
    state->arms = std::move(*known);
    return TaskStore(std::move(state));
  }
};

TaskStore::TaskStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
TaskStore::TaskStore(TaskStore&&) noexcept = default;
TaskStore& TaskStore::operator=(TaskStore&&) noexcept = default;
TaskStore::~TaskStore() = default;

const TaskStoreInfo& TaskStore::info() const { return state_->info; }
const std::vector<Arm>& TaskStore::arms() const { return state_->arms; }
const std::string& TaskStore::folder() const { return state_->file.folder(); }

Result<TaskStore> TaskStore::create(const std::string& folder, const TaskStoreInfo& info) {
  const TaskPlan& plan = info.plan;
  Result<std::vector<Arm>> arms = arms_of(plan);
  if (!arms) return arms.error();
  if (plan.seeds.empty()) return Error{"a task needs at least one seed, such as --seeds 0..9."};
  return State::of(StoreFile::create(folder, tables,
                                     {{"version", info.version},
                                      {"simd_target", info.simd_target},
                                      {"created", info.created},
                                      {"command", info.command},
                                      {"threads", std::to_string(info.threads)},
                                      {"seconds", "0"},
                                      {"task", std::string(plan.task->name)},
                                      {"preset", plan.preset},
                                      {"filters", json(Filters{plan.models, plan.operations, plan.settings}).dump()},
                                      {"seeds", json(plan.seeds).dump()},
                                      {"iterations", optional_json(plan.iterations)},
                                      {"log_every", optional_json(plan.log_every)},
                                      {"learning_rate", optional_json(plan.learning_rate)}}),
                   std::move(*arms));
}
Result<TaskStore> TaskStore::resume(const std::string& folder) { return State::of(StoreFile::resume(folder)); }
Result<TaskStore> TaskStore::read(const std::string& folder) { return State::of(StoreFile::read(folder)); }

bool TaskStore::is_one(const std::string& folder) {
  const Result<StoreFile> file = StoreFile::read(folder);
  return file && file->about("task");
}

Status TaskStore::add(const TaskRunId& id, const RunRecord& record, double run_seconds, double worked_seconds) {
  const StoreFile& file = state_->file;
  const TaskPlan& plan = state_->info.plan;
  const Arm& arm = state_->arms[id.arm];
  TaskRunnerSettings settings;
  settings.iterations = plan.iterations;
  settings.learning_rate = plan.learning_rate;
  const Status added = file.transaction([&]() -> Status {
    Result<Statement> run = Statement::prepare(file.db(),
                                               "INSERT INTO runs (model, operation, setting, seed, recipe, stack, "
                                               "seconds, note, parameters) VALUES (?,?,?,?,?,?,?,?,?)");
    if (!run) return run.error();
    run->bind(0, arm.model);
    run->bind(1, arm.operation);
    run->bind(2, arm.setting);
    run->bind(3, static_cast<long long>(id.seed));
    run->bind(4, arm.own ? "{}" : to_json(resolve_recipe(arm, settings)));
    run->bind(5, arm.own ? "" : print(arm.stack));
    run->bind(6, run_seconds);
    run->bind(7, record.note);
    run->bind_numbers(8, std::span<const double>(record.parameters));
    if (Status done = file.run(*run); !done) return done;
    const long long id_of_run = sqlite3_last_insert_rowid(file.db());
    Result<Statement> row = Statement::prepare(file.db(), "INSERT INTO series VALUES (?,?,?)");
    if (!row) return row.error();
    for (std::size_t r = 0; r < record.steps.size(); ++r) {
      row->reset();
      row->bind(0, id_of_run);
      row->bind(1, static_cast<long long>(record.steps[r]));
      row->bind_numbers(2, std::span<const double>(record.values[r]));
      if (Status done = file.run(*row); !done) return done;
    }
    return file.add_to_about("seconds", worked_seconds);
  });
  if (added) state_->info.seconds += worked_seconds;
  return added;
}

Result<std::vector<TaskRunId>> TaskStore::missing() const {
  const StoreFile& file = state_->file;
  Result<Statement> query = Statement::prepare(file.db(), "SELECT model, operation, setting, seed FROM runs");
  if (!query) return query.error();
  std::set<Key> stored;
  const Status read = file.for_each_row(*query, [&]() -> Status {
    stored.emplace(query->text(0), query->text(1), query->text(2), query->number(3));
    return Done{};
  });
  if (!read) return read.error();
  // All arms with a few seeds before one arm with all: then the time left is a good guess, and half a table says more.
  std::vector<TaskRunId> missing;
  for (const std::uint32_t seed : state_->info.plan.seeds)
    for (std::size_t arm = 0; arm < state_->arms.size(); ++arm)
      if (!stored.contains(key_of(state_->arms[arm], seed))) missing.push_back({arm, seed});
  return missing;
}

Result<std::vector<StoredTaskRun>> TaskStore::runs() const {
  const StoreFile& file = state_->file;
  Result<Statement> query = Statement::prepare(
      file.db(), "SELECT id, model, operation, setting, seed, recipe, seconds, note, parameters FROM runs");
  if (!query) return query.error();
  Result<Statement> rows =
      Statement::prepare(file.db(), "SELECT step, measured FROM series WHERE run = ? ORDER BY step");
  if (!rows) return rows.error();
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> positions;
  for (std::size_t a = 0; a < state_->arms.size(); ++a) {
    const Arm& arm = state_->arms[a];
    positions[{arm.model, arm.operation, arm.setting}] = a;
  }
  std::vector<StoredTaskRun> runs;
  const Status read = file.for_each_row(*query, [&]() -> Status {
    const auto at = positions.find({query->text(1), query->text(2), query->text(3)});
    const auto other_version = [&] {
      return file.wrong_content(fmt::format(
          "the run {} | {} | {} is not as this version's task {} has it; use version {} of nalm.", query->text(1),
          query->text(2), query->text(3), state_->info.plan.task->name, state_->info.version));
    };
    if (at == positions.end()) return other_version();
    StoredTaskRun run;
    run.id = {at->second, static_cast<std::uint32_t>(query->number(4))};
    run.recipe = query->text(5);
    run.seconds = query->real(6);
    run.record.note = query->text(7);
    run.record.parameters = query->numbers<double>(8);
    rows->reset();
    rows->bind(0, query->number(0));
    const Status read_series = file.for_each_row(*rows, [&]() -> Status {
      run.record.steps.push_back(static_cast<long>(rows->number(0)));
      run.record.values.push_back(rows->numbers<double>(1));
      if (run.record.values.back().size() != state_->arms[at->second].measures.size()) return other_version();
      return Done{};
    });
    if (!read_series) return read_series;
    runs.push_back(std::move(run));
    return Done{};
  });
  if (!read) return read.error();
  std::sort(runs.begin(), runs.end(), [](const StoredTaskRun& a, const StoredTaskRun& b) {
    return std::pair(a.id.arm, a.id.seed) < std::pair(b.id.arm, b.id.seed);
  });
  return runs;
}

}  // namespace nalm
