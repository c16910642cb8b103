#include "experiment/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/text.hpp"

namespace nalm {
namespace {

constexpr int most_shards = 1'000'000;
// The widest target's lanes, whatever this machine has: the same shards everywhere.
constexpr std::size_t widest_lanes = 16;

struct Launcher {
  std::string_view name;
  const char *rank, *count;
};
// mpirun inside of a Slurm job has the variables of both, and its own say more. A batch script of Slurm has
// SLURM_PROCID too, but no step.
constexpr Launcher launchers[] = {{"OpenMPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                  {"PMI", "PMI_RANK", "PMI_SIZE"},
                                  {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

// The place in a Slurm array: task IDs from MIN to MAX, every STEP-th.
Result<LaunchedProcess> place_in_array(const Environment& environment) {
  const auto number = [&](const char* name) { return number_in<int>(environment(name)); };
  const auto id = number("SLURM_ARRAY_TASK_ID");
  if (!id) return LaunchedProcess{};
  const auto first = number("SLURM_ARRAY_TASK_MIN"), last = number("SLURM_ARRAY_TASK_MAX");
  const int step = std::max(1, number("SLURM_ARRAY_TASK_STEP").value_or(1));
  const auto count = number("SLURM_ARRAY_TASK_COUNT");
  if (!first || !last || *id < *first || *id > *last || (*id - *first) % step != 0 ||
      (count && *count != (*last - *first) / step + 1))
    return Error{
        "the Slurm array has gaps, so that --shard auto cannot count its tasks; use one such as --array=1-16, or write "
        "--shard K/N."};
  return LaunchedProcess{(*id - *first) / step, (*last - *first) / step + 1, "Slurm"};
}

// The cheapest cost that no shard need exceed, if each takes neighbours.
double smallest_limit(const std::vector<Unit>& units, int count) {
  double low = 0, high = cost_of(units);
  for (const Unit& unit : units) low = std::max(low, unit.cost);
  const auto is_enough = [&](double limit) {
    int shards = 1;
    double sum = 0;
    for (const Unit& unit : units) {
      if (sum + unit.cost > limit) ++shards, sum = 0;
      sum += unit.cost;
    }
    return shards <= count;
  };
  if (is_enough(low)) return low;
  for (int k = 0; k < 60; ++k) {
    const double middle = low + (high - low) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::string Shard::text() const { return fmt::format("{}/{}", number, count); }

Result<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto number = number_in<int>(trim(text.substr(0, slash)));
  const auto count = slash == text.npos ? std::nullopt : number_in<int>(trim(text.substr(slash + 1)));
  if (!number || !count || *number < 1 || *count < *number || *count > most_shards)
    return Error{
        fmt::format("\"{}\" is not a shard; write --shard 3/16 for the third of sixteen, or --shard auto.", text)};
  return Shard{*number, *count};
}

Environment own_environment() {
  return [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
}

LaunchedProcess launched_process(const Environment& environment) {
  for (const auto& [name, rank_name, count_name] : launchers) {
    const auto rank = number_in<int>(environment(rank_name)), count = number_in<int>(environment(count_name));
    if (rank && count && *rank >= 0 && *count > *rank) return {*rank, *count, name};
  }
  return {};
}

Result<Shard> shard_of(const Environment& environment) {
  const Result<LaunchedProcess> array = place_in_array(environment);
  if (!array) return array.error();
  const LaunchedProcess process = launched_process(environment);
  if (array->by.empty() && process.by.empty())
    return Error{
        "--shard auto finds no Slurm array or step and no OpenMPI or PMI launcher here; write --shard K/N instead."};
  if (array->count > most_shards / process.count)
    return Error{fmt::format("there may be at most {} shards.", most_shards)};
  return Shard{array->rank * process.count + process.rank + 1, array->count * process.count};
}

std::vector<RunId> runs_of(const Shard& shard, const Task& task, const std::vector<Cell>& cells,
                           const std::vector<std::uint32_t>& seeds) {
  std::vector<RunId> all;
  for (const std::uint32_t seed : seeds)
    for (std::size_t cell = 0; cell < cells.size(); ++cell) all.push_back({cell, seed});
  // Narrower pieces than lanes save no time, unless somebody would get nothing.
  std::size_t lanes = widest_lanes;
  std::vector<Unit> units = task.divide(cells, all, lanes);
  while (units.size() < static_cast<std::size_t>(shard.count) && lanes > 1) units = task.divide(cells, all, lanes /= 2);
  const double limit = smallest_limit(units, shard.count);
  std::vector<RunId> own;
  int now = 1;
  double sum = 0;
  for (const Unit& unit : units) {
    if (sum + unit.cost > limit) ++now, sum = 0;
    sum += unit.cost;
    if (now == shard.number) own.insert(own.end(), unit.runs.begin(), unit.runs.end());
  }
  return own;
}

Result<std::vector<RunId>> runs_to_do(const Store& store) {
  Result<std::vector<RunId>> missing = store.missing();
  const StoreInfo& info = store.info();
  if (!missing || info.shard.empty()) return missing;
  const Result<Shard> shard = parse_shard(info.shard);
  if (!shard) return shard.error();
  const std::vector<RunId> own = runs_of(*shard, *info.plan.task, store.cells(), info.plan.seeds);
  const std::set<RunId> wanted(own.begin(), own.end());
  std::erase_if(*missing, [&](const RunId& run) { return !wanted.contains(run); });
  return missing;
}

Result<std::size_t> runs_wanted(const Store& store) {
  const StoreInfo& info = store.info();
  if (info.shard.empty()) return store.run_count();
  const Result<Shard> shard = parse_shard(info.shard);
  if (!shard) return shard.error();
  return runs_of(*shard, *info.plan.task, store.cells(), info.plan.seeds).size();
}

}  // namespace nalm
