// A folder of its own for a fuzzer, and a small store to begin with.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "experiment/store.hpp"
#include "experiment/store_file.hpp"
#include "temporary_folder.hpp"

namespace nalm::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The file of a store: two cells, two seeds, one of the four runs missing.
inline std::string small_store() {
  const test::TemporaryFolder place;
  const std::string folder = (place.path() / "r").string();
  Plan plan;
  plan.task = *find_task("single-module");
  plan.preset = "primer";
  plan.models = "NAU";
  plan.operations = "add,sub";
  plan.settings = "6";
  plan.seeds = {0, 1};
  plan.iterations = 2000;
  {
    Result<Store> store =
        Store::create(folder, {plan, command_of(plan), "0.1.0", "scalar", "2026-01-01T00:00:00Z", 1, 0});
    require(store.ok());
    FinishedRuns finished;
    for (const RunId& id : {RunId{0, 0}, RunId{1, 0}, RunId{0, 1}}) {
      FinishedRun run{id, {}, 0.5};
      for (const long step : {0L, 1000L, 2000L}) {
        run.record.steps.push_back(step);
        const double error = step == 2000 && id.seed == 0 ? 1e-12 : 0.25;
        run.record.values.push_back({error, error, 0.125});
        run.record.parameters.push_back({1, id.cell == 0 ? 1.0 : -1.0});
      }
      finished.runs.push_back(std::move(run));
    }
    finished.timings = {{"data_seconds", 1}};
    require(store->add(finished, 1).ok());
  }
  return read_bytes(folder + "/" + std::string(StoreFile::file_name));
}

}  // namespace nalm::fuzz
