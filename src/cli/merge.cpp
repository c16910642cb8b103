// nalm merge: shards in one store.
#include "experiment/merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"

namespace nalm::cli {
namespace {

constexpr std::size_t names_shown = 10;

int merge(const std::vector<std::string>& folders, const std::string& out) {
  if (folders.empty()) return fail({"there is nothing to merge; name the folders of the shards, such as part-*."});
  if (out.empty()) return fail({"--out is missing: the folder that everything goes to."});
  const Result<Merged> merged = merge_stores(folders, out);
  if (!merged) return fail(merged.error());
  put("{} runs of {} are in {}{}.\n", merged->runs,
      folders.size() == 1 ? "1 folder" : fmt::format("{} folders", folders.size()), out,
      merged->duplicates == 0 ? "" : fmt::format("; {} were there more than once, and equal", merged->duplicates));
  if (merged->missing.empty()) {
    put("Next: nalm table {0}, or nalm report {0}\n", out);
    return yes;
  }
  const std::vector<std::string>& missing = merged->missing;
  for (std::size_t k = 0; k < std::min(missing.size(), names_shown); ++k) put("missing: {}\n", missing[k]);
  if (missing.size() > names_shown) put("and {} more\n", missing.size() - names_shown);
  if (!merged->missing_shards.empty()) put("No folder has the shards {}.\n", fmt::join(merged->missing_shards, ", "));
  put("{} runs are missing; nalm bench --resume {} trains them.\n", missing.size(), out);
  return no;
}

}  // namespace

void add_merge(Program& program) {
  static std::vector<std::string> folders;
  static std::string out;
  program.add("merge", "Put the shards of a benchmark together")
      .words("folders", folders, "Folders with results of the same settings, by the same version", Value::Folder)
      .text("--out", out, "Folder for all of them; one with results is refused", Value::Folder)
      .example(
          "  nalm bench --shard 1/2 --out part-1\n"
          "  nalm bench --shard 2/2 --out part-2\n"
          "  nalm merge part-1 part-2 --out all\n"
          "A run that is in several folders must be the same in each. Exit code 1 if runs are missing: they are "
          "named,\n"
          "and nalm bench --resume goes on from what is there.")
      .run([] { return merge(folders, out); });
}

}  // namespace nalm::cli
