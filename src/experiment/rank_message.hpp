// What the ranks of a job say to each other.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "experiment/executor.hpp"

namespace nalm {

// The first byte of a message.
enum class RankWord : char {
  // from rank 0
  Plan,  // version, plan
  Work,  // runs
  Home,
  // to rank 0
  Ready,     // pieces at once, host
  Finished,  // pieces that are done, timings, number of runs, runs
  Stop,      // somebody asked this rank to end
  Fault,     // a sentence
  Bye,       // the last one
  // both ways
  Beat,  // cost of what is done of the pieces in training
};

inline ByteWriter message(RankWord word) {
  ByteWriter writer;
  writer.number(word);
  return writer;
}

void write(ByteWriter& to, const std::vector<RunId>& ids);
std::vector<RunId> read_ids(ByteReader& from);

void write(ByteWriter& to, const FinishedRun& run);
FinishedRun read_run(ByteReader& from);

void write(ByteWriter& to, const std::vector<std::pair<std::string_view, double>>& timings);
std::vector<std::pair<std::string, double>> read_timings(ByteReader& from);

}  // namespace nalm
