#include "experiment/merge.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <set>
#include <system_error>

#include "experiment/shard.hpp"

namespace nalm {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t runs_at_once = 256;  // in memory, and in a transaction

// A folder beside the one that is made, until it is whole.
class Workshop {
 public:
  explicit Workshop(std::string path) : path_(std::move(path)) {}
  ~Workshop() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string without_slash(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

bool same_bits(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  const auto same_row = [](const std::vector<double>& x, const std::vector<double>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double p, double q) {
      return std::bit_cast<std::uint64_t>(p) == std::bit_cast<std::uint64_t>(q);
    });
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_row);
}

// How long a run took does not matter.
bool same_record(const RunRecord& a, const RunRecord& b) {
  return a.steps == b.steps && same_bits(a.values, b.values) && same_bits(a.parameters, b.parameters) &&
         a.note == b.note && a.facts == b.facts;
}

std::string name_of(const Store& store, const RunId& id) {
  return fmt::format("{} with seed {}", store.cells()[id.cell].name(), id.seed);
}

Status fit_together(const Store& first, const Store& other) {
  const StoreInfo &a = first.info(), &b = other.info();
  if (a.version != b.version)
    return Error{fmt::format(
        "{} was made by version {} and {} by version {}, whose runs might have other bits; make both with one version.",
        first.folder(), a.version, other.folder(), b.version)};
  if (to_json(a.plan) != to_json(b.plan))
    return Error{
        fmt::format("{} and {} have different settings, \"{}\" and \"{}\"; only parts of one benchmark can be merged.",
                    first.folder(), other.folder(), command_of(a.plan), command_of(b.plan))};
  return Done{};
}

// Where all stores are shards of as many: those of which none is here.
std::vector<std::string> missing_shards(const std::vector<Store>& stores) {
  std::set<int> there;
  int count = 0;
  for (const Store& store : stores) {
    const Result<Shard> shard = parse_shard(store.info().shard);
    if (!shard || (count != 0 && shard->count != count)) return {};
    count = shard->count;
    there.insert(shard->number);
  }
  std::vector<std::string> missing;
  for (int k = 1; k <= count; ++k)
    if (!there.contains(k)) missing.push_back(Shard{k, count}.text());
  return missing;
}

Status add_all(const Store& from, Store& to, Merged& merged) {
  FinishedRuns waiting;
  const auto add_waiting = [&]() -> Status {
    const Status added = to.add(waiting, 0);
    merged.runs += waiting.runs.size();
    waiting.runs.clear();
    return added;
  };
  const Status read = from.for_each_run([&](const FinishedRun& run) -> Status {
    const Result<std::optional<FinishedRun>> there = to.find(run.id);
    if (!there) return there.error();
    if (*there) {
      if (!same_record((*there)->record, run.record))
        return Error{
            fmt::format("{}: the run {} is in another of these folders too, with other numbers; one of them is wrong.",
                        from.folder(), name_of(from, run.id))};
      ++merged.duplicates;
      return Done{};
    }
    waiting.runs.push_back(run);
    return waiting.runs.size() < runs_at_once ? Status(Done{}) : add_waiting();
  });
  return read ? add_waiting() : read;
}

}  // namespace

Result<Merged> merge_stores(const std::vector<std::string>& folders, const std::string& into) {
  const std::string place = without_slash(into);
  std::error_code error;
  if (fs::exists(place, error) && !fs::is_empty(place, error))
    return Error{fmt::format("{} is there already and is not empty; choose another folder with --out.", place)};
  std::vector<Store> stores;
  double seconds = 0;
  for (const std::string& folder : folders) {
    Result<Store> store = Store::read(folder);
    if (!store) return store.error();
    if (!stores.empty())
      if (Status good = fit_together(stores.front(), *store); !good) return good.error();
    seconds += store->info().seconds;
    stores.push_back(std::move(*store));
  }
  if (stores.empty()) return Error{"there is nothing to merge; name the folders of the shards."};
  Merged merged;
  const Workshop workshop(fmt::format("{}.merging-{}", place, ::getpid()));
  {
    StoreInfo info = stores.front().info();
    info.command = command_of(info.plan);
    info.shard.clear();
    Result<Store> made = Store::create(workshop.path(), info);
    if (!made) return made.error();
    for (const Store& store : stores)
      if (Status added = add_all(store, *made, merged); !added) return added.error();
    if (Status added = made->add({}, seconds); !added) return added.error();
    const Result<std::vector<RunId>> missing = made->missing();
    if (!missing) return missing.error();
    for (const RunId& id : *missing) merged.missing.push_back(name_of(*made, id));
  }
  if (!merged.missing.empty()) merged.missing_shards = missing_shards(stores);
  // In place of an empty folder, too, and of nothing else.
  fs::rename(workshop.path(), place, error);
  if (error)
    return Error{
        fmt::format("the folder {} cannot be made ({}); choose another one with --out.", place, error.message())};
  return merged;
}

}  // namespace nalm
