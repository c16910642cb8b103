// One experiment on the ranks of a job: rank 0 has the store and hands out the runs, longest first; all of them train.
// docs/design/015-scale-out.md says how.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "experiment/executor.hpp"
#include "experiment/link.hpp"
#include "experiment/plan.hpp"

namespace nalm {

struct RankSettings {
  int threads = 0;  // 0: the processors that the rank is bound to, shared with other ranks that are bound to the same
  // Ranks say so often that they are there; who says nothing for so long is taken for dead.
  std::chrono::milliseconds beat{2000}, silence{40000};
  std::chrono::milliseconds farewell{10000};  // at the end, to hand over what is finished
};

// How many threads a rank has.
int threads_of(const RankSettings& settings, const Link& link);

// Rank 0.
class Leader {
 public:
  Leader(Link& link, RankSettings settings) : link_(link), settings_(settings) {}

  // As an executor does, with all ranks. Afterwards the others are gone.
  Status train(const Plan& plan, const std::vector<Cell>& cells, const std::vector<RunId>& runs,
               const ExecutorSettings& settings);
  // Sends the others home, if they are still there. If one of them cannot be reached, everything ends here with this
  // exit code, so everything must have been said and stored.
  void leave(int exit_code);

 private:
  bool send_home();  // false: somebody does not answer

  Link& link_;
  RankSettings settings_;
  bool are_gone_ = false, cannot_be_reached_ = false, is_connected_ = false;
};

// All other ranks: until rank 0 sends them home. An error means that rank 0 cannot be reached.
Status follow(Link& link, const RankSettings& settings, const std::stop_token& stop);

}  // namespace nalm
