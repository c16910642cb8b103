// nalm_leader_benchmark FOLDER [RUNS] [RANKS]: what rank 0 of a job digests if all other ranks answer at once: finished
// runs per second, with the store in FOLDER, and the bytes of a run's message. The runs are those of the survey's grid,
// with 50 logged rows each; the answers are made beforehand, and rank 0 has the messages of all ranks to itself.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "experiment/rank_message.hpp"
#include "experiment/ranks.hpp"
#include "experiment/store.hpp"
#include "nalm/version.hpp"

namespace nalm {
namespace {

constexpr std::size_t rows = 50;

FinishedRun answer_of(const Cell& cell, const RunId& id) {
  FinishedRun run{id, {}, 0.01};
  int parameters = 0;
  for (const LayerSpec& layer : cell.stack) parameters += parameter_count(*layer.module, layer.shape);
  for (std::size_t row = 0; row < rows; ++row) {
    run.record.steps.push_back(static_cast<long>(1000 * row));
    run.record.values.emplace_back(cell.measures.size(), 0.1 * static_cast<double>(row));
    run.record.parameters.emplace_back(static_cast<std::size_t>(parameters), 0.5);
  }
  return run;
}

// Rank 0 among ranks that have every answer ready.
class ReadyRanks : public Link {
 public:
  ReadyRanks(int size, const std::vector<Cell>& cells) : size_(size) {
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      ByteWriter writer;
      write(writer, answer_of(cells[cell], {cell, 0}));
      answers_.push_back(writer.take());
      bytes_ += static_cast<double>(answers_.back().size()) / static_cast<double>(cells.size());
    }
  }
  double bytes_of_run() const { return bytes_; }

  int rank() const override { return 0; }
  int size() const override { return size_; }
  int on_this_machine() const override { return 1; }
  bool is_sending() override { return false; }
  void finish() override {}
  void abort(int code) override { std::exit(code); }

  void send(int to, std::string_view bytes) override {
    ByteReader reader(bytes);
    switch (reader.number<RankWord>()) {
      case RankWord::Plan: {
        ByteWriter ready = message(RankWord::Ready);
        ready.number(1);
        ready.text("ready");
        inbox_.push_back({to, ready.take()});
        break;
      }
      case RankWord::Work: {
        const std::vector<RunId> ids = read_ids(reader);
        ByteWriter writer = message(RankWord::Finished);
        writer.number(1);
        write(writer, std::vector<std::pair<std::string_view, double>>{{"training_seconds", 1}});
        writer.number<std::uint64_t>(ids.size());
        std::string text = writer.take();
        for (const RunId& id : ids) {
          const std::size_t first = text.size();
          text += answers_[id.cell];
          text.replace(first + sizeof(std::uint64_t), sizeof id.seed, reinterpret_cast<const char*>(&id.seed),
                       sizeof id.seed);
        }
        inbox_.push_back({to, std::move(text)});
        break;
      }
      case RankWord::Home:
        inbox_.push_back({to, message(RankWord::Bye).take()});
        break;
      default:
        break;
    }
  }
  std::optional<Message> receive() override {
    if (inbox_.empty()) return std::nullopt;
    Message first = std::move(inbox_.front());
    inbox_.pop_front();
    return first;
  }

 private:
  int size_;
  std::vector<std::string> answers_;
  double bytes_ = 0;
  std::deque<Message> inbox_;
};

// Rank 0 trains nothing here.
Status at_once(const std::vector<Cell>& cells, const std::vector<RunId>& runs, const ExecutorSettings& settings) {
  FinishedRuns finished;
  for (const RunId& id : runs) finished.runs.push_back(answer_of(cells[id.cell], id));
  return settings.finished(finished);
}

int measure(const std::string& folder, std::size_t runs, int ranks) {
  Plan plan;
  plan.task = *find_task("single-module");
  plan.preset = "primer";
  const std::vector<Cell> cells = *cells_of([&] {
    plan.seeds = {0};
    return plan;
  }());
  plan.seeds.clear();
  for (std::uint32_t seed = 0; seed * cells.size() < runs; ++seed) plan.seeds.push_back(seed);
  Result<Store> store = Store::create(folder, {plan, "", std::string(version()), "", "", 1, 0, ""});
  if (!store) {
    std::fputs((store.error().message + "\n").c_str(), stderr);
    return 2;
  }
  Task task = *plan.task;
  task.execute = at_once;
  plan.task = &task;
  std::vector<RunId> ids;
  for (const std::uint32_t seed : plan.seeds)
    for (std::size_t cell = 0; cell < cells.size(); ++cell) ids.push_back({cell, seed});
  ReadyRanks link(ranks, cells);
  RankSettings settings;
  settings.threads = 1;
  Leader leader(link, settings);
  ExecutorSettings executor;
  double storing = 0;
  std::size_t transactions = 0;
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  executor.finished = [&](const FinishedRuns& finished) {
    const Clock::time_point start = Clock::now();
    const Status added = store->add(finished, 0);
    storing += since(start);
    ++transactions;
    return added;
  };
  const Clock::time_point start = Clock::now();
  const Status trained = leader.train(plan, cells, ids, executor);
  const double seconds = since(start);
  if (!trained) {
    std::fputs((trained.error().message + "\n").c_str(), stderr);
    return 2;
  }
  std::fputs(fmt::format(
                 "{} runs of {} rows from {} ranks in {:.2f} s: {:.0f} runs/s, {:.0f} bytes each; {:.0f} % of the time "
                 "in {} transactions\n",
                 ids.size(), rows, ranks, seconds, static_cast<double>(ids.size()) / seconds, link.bytes_of_run(),
                 100 * storing / seconds, transactions)
                 .c_str(),
             stdout);
  return 0;
}

}  // namespace
}  // namespace nalm

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: nalm_leader_benchmark FOLDER [RUNS] [RANKS]\n", stderr);
    return 2;
  }
  return nalm::measure(argv[1], argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 20000,
                       argc > 3 ? std::atoi(argv[3]) : 64);
}
