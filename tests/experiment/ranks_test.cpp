// Ranks without MPI: threads of this process that send each other messages.
#include "experiment/ranks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "experiment/rank_message.hpp"
#include "experiment/store_fixture.hpp"

namespace nalm::ranks_test {
namespace {

using namespace std::chrono_literals;

// Where messages wait for who they are for.
struct Post {
  explicit Post(int size) : boxes(static_cast<std::size_t>(size)) {}
  std::mutex mutex;
  std::vector<std::deque<Link::Message>> boxes;
  std::atomic<int> finished = 0, aborted = 0;
  int to_rank_1 = 0;  // messages
  bool cut = false;   // nothing arrives there any more
};

class PostLink : public Link {
 public:
  PostLink(Post& post, int rank) : post_(post), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(post_.boxes.size()); }
  int on_this_machine() const override { return size(); }
  void send(int to, std::string_view bytes) override {
    const std::lock_guard lock(post_.mutex);
    if (to == 1 && post_.cut) return;
    post_.boxes[static_cast<std::size_t>(to)].push_back({rank_, std::string(bytes)});
    post_.to_rank_1 += to == 1 ? 1 : 0;
  }
  std::optional<Message> receive() override {
    const std::lock_guard lock(post_.mutex);
    auto& box = post_.boxes[static_cast<std::size_t>(rank_)];
    if (box.empty()) return std::nullopt;
    Message message = std::move(box.front());
    box.pop_front();
    return message;
  }
  bool is_sending() override { return false; }
  void finish() override { ++post_.finished; }
  void abort(int code) override { post_.aborted = code; }

 private:
  Post& post_;
  int rank_;
};

RankSettings quick_settings() {
  RankSettings settings;
  settings.threads = 1;
  settings.beat = 20ms, settings.silence = 60s, settings.farewell = 60s;
  return settings;
}

Plan small() {
  Plan plan = test::plan_of("single-module", "primer", "NAU,NMU,iNALU", "", "6,4");
  plan.seeds = *parse_seeds("0..10");
  plan.iterations = 60;
  plan.log_every = 20;
  return plan;
}

// Nobody waits for its end.
Plan endless() {
  Plan plan = small();
  plan.iterations = plan.log_every = 1'000'000'000;
  return plan;
}

// A job of so many ranks, of which `mute` never says a word.
struct Job {
  Plan plan;
  int size = 3, mute = -1;
  RankSettings settings = quick_settings();
  std::function<Status(const FinishedRuns&)> finished = [](const FinishedRuns&) -> Status { return Done{}; };
  std::stop_source stop{}, stop_others{};

  std::vector<Cell> cells{};
  std::vector<FinishedRun> runs{};
  std::map<std::string, double> timings{};
  std::vector<std::string> complaints{};  // of those that follow
  std::atomic<double> progress = 0;
  int finished_ranks = 0, aborted = 0;

  Status run() {
    cells = *cells_of(plan);
    std::vector<RunId> ids;
    for (const std::uint32_t seed : plan.seeds)
      for (std::size_t cell = 0; cell < cells.size(); ++cell) ids.push_back({cell, seed});
    Post post(size);
    std::vector<std::jthread> others;
    complaints.resize(static_cast<std::size_t>(size));
    for (int rank = 1; rank < size; ++rank)
      if (rank != mute)
        others.emplace_back([&, rank] {
          PostLink link(post, rank);
          const Status followed = follow(link, settings, stop_others.get_token());
          if (!followed) complaints[static_cast<std::size_t>(rank)] = followed.error().message;
        });
    PostLink link(post, 0);
    Leader leader(link, settings);
    ExecutorSettings executor;
    executor.progress = &progress;
    executor.stop = stop.get_token();
    executor.finished = [&](const FinishedRuns& some) -> Status {
      runs.insert(runs.end(), some.runs.begin(), some.runs.end());
      for (const auto& [name, seconds] : some.timings) timings[std::string(name)] += seconds;
      return finished(some);
    };
    const Status trained = leader.train(plan, cells, ids, executor);
    leader.leave(7);
    others.clear();
    finished_ranks = post.finished, aborted = post.aborted;
    return trained;
  }
};

std::map<RunId, FinishedRun> by_id(const std::vector<FinishedRun>& runs) {
  std::map<RunId, FinishedRun> map;
  for (const FinishedRun& run : runs) EXPECT_TRUE(map.emplace(run.id, run).second) << "a run came twice";
  return map;
}

std::map<RunId, FinishedRun> trained_here(const Plan& plan) {
  const std::vector<Cell> cells = *cells_of(plan);
  std::vector<RunId> ids;
  for (const std::uint32_t seed : plan.seeds)
    for (std::size_t cell = 0; cell < cells.size(); ++cell) ids.push_back({cell, seed});
  std::vector<FinishedRun> runs;
  ExecutorSettings settings;
  settings.finished = [&](const FinishedRuns& some) -> Status {
    runs.insert(runs.end(), some.runs.begin(), some.runs.end());
    return Done{};
  };
  EXPECT_TRUE(plan.task->execute(cells, ids, settings).ok());
  return by_id(runs);
}

TEST(Ranks, TrainTheSameBitsAsOneProcess) {
  Plan own = test::plan_of("formulas", "full", "friction_force,force_in_field");  // runs that are more than a network
  own.options = {{"rows", "200"}, {"noise", "0"}};
  Plan networks = test::plan_of("arithmetic-dataset", "quick");
  networks.seeds = *parse_seeds("0..4");
  networks.iterations = 20;
  for (const Plan& plan : {small(), networks, own}) {
    SCOPED_TRACE(plan.task->name);
    const std::map<RunId, FinishedRun> whole = trained_here(plan);
    for (const int size : {1, 2, 5}) {
      Job job{plan, size};
      const Status trained = job.run();
      ASSERT_TRUE(trained.ok()) << complaint(trained);
      const std::map<RunId, FinishedRun> runs = by_id(job.runs);
      ASSERT_EQ(runs.size(), whole.size());
      for (const auto& [id, run] : runs) {
        const FinishedRun& other = whole.at(id);
        EXPECT_EQ(run.record.steps, other.record.steps);
        expect_same_bits(run.record.values, other.record.values);
        expect_same_bits(run.record.parameters, other.record.parameters);
        EXPECT_EQ(run.record.note, other.record.note);
        EXPECT_EQ(run.record.facts, other.record.facts);
      }
      EXPECT_EQ(job.finished_ranks, size);
      EXPECT_EQ(job.aborted, 0);
    }
  }
}

TEST(Ranks, SayWhereTheTimeWentAndHowFarTheyAre) {
  Job job{small(), 3};
  ASSERT_TRUE(job.run().ok());
  EXPECT_GT(job.timings["training_seconds"], 0);
  EXPECT_GT(job.progress, 0);
}

TEST(Ranks, EndWithWhatIsStoredWhenOneIsSilent) {
  Job job{small(), 3, 2};
  job.plan = endless();
  job.settings.silence = 300ms;
  const std::string sentence = complaint(job.run());
  EXPECT_TRUE(contains(sentence, "rank 2 on")) << sentence;
  EXPECT_EQ(job.aborted, 7);
}

TEST(Ranks, WhoIsLeftAloneSaysSo) {
  Post post(2);
  RankSettings settings = quick_settings();
  settings.silence = 300ms;
  PostLink leading(post, 0), following(post, 1);
  const Plan plan = endless();
  const std::vector<Cell> cells = *cells_of(plan);
  std::string message;
  std::jthread other([&] { message = complaint(follow(following, settings, {})); });
  // Rank 0 begins, and vanishes.
  RankSettings impatient = settings;
  impatient.farewell = 0ms;
  std::stop_source stop;
  ExecutorSettings executor;
  executor.stop = stop.get_token();
  executor.finished = [](const FinishedRuns&) -> Status { return Done{}; };
  std::jthread leader([&] {
    Leader rank0(leading, impatient);
    EXPECT_TRUE(rank0.train(plan, cells, {{0, 0}, {1, 0}}, executor).ok());
  });
  for (bool begun = false; !begun; std::this_thread::sleep_for(1ms)) {
    const std::lock_guard lock(post.mutex);
    begun = post.cut = post.to_rank_1 > 2;
  }
  other.join();
  stop.request_stop();
  EXPECT_TRUE(contains(message, "rank 1 on")) << message;
  EXPECT_TRUE(contains(message, "rank 0 has not been heard of")) << message;
}

TEST(Ranks, StopWhereSomebodyAsksFor) {
  for (const bool others : {false, true}) {
    Job job{small(), 3};
    job.plan = endless();
    std::jthread impatient([&] {
      while (job.progress == 0) std::this_thread::sleep_for(1ms);
      (others ? job.stop_others : job.stop).request_stop();
    });
    EXPECT_TRUE(job.run().ok());
    EXPECT_TRUE(job.runs.empty());
    EXPECT_EQ(job.finished_ranks, 3);
    EXPECT_EQ(job.aborted, 0);
    for (const std::string& sentence : job.complaints) EXPECT_EQ(sentence, "");
  }
}

TEST(Ranks, EndWhenNothingCanBeStored) {
  Job job{small(), 3};
  int calls = 0;
  job.finished = [&](const FinishedRuns&) -> Status {
    ++calls;
    return Error{"the disk is full."};
  };
  EXPECT_EQ(complaint(job.run()), "the disk is full.");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(job.finished_ranks, 3);
}

TEST(Ranks, WithoutRunsEverybodyGoesHome) {
  Post post(2);
  PostLink leading(post, 0), following(post, 1);
  std::jthread other([&] { EXPECT_TRUE(follow(following, quick_settings(), {}).ok()); });
  Leader leader(leading, quick_settings());
  leader.leave(2);
  other.join();
  EXPECT_EQ(post.finished, 2);
}

TEST(Ranks, MessagesKeepEveryBitOfARun) {
  for (const char* task : {"single-module", "sir-discovery", "nsr-counting"}) {
    const Plan plan = test::plan_of(task, "quick");
    const std::vector<Cell> cells = *cells_of(plan);
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const FinishedRun run = run_of(cells[cell], {cell, 4294967295u});
      ByteWriter writer;
      write(writer, run);
      const std::string bytes = writer.take();
      ByteReader reader(bytes);
      const FinishedRun back = read_run(reader);
      EXPECT_FALSE(reader.failed());
      EXPECT_TRUE(reader.at_end());
      expect_same(back, run);
      // One that is cut off is noticed, wherever that is.
      for (std::size_t size = 0; size < bytes.size(); size += 7) {
        ByteReader cut(std::string_view(bytes).substr(0, size));
        read_run(cut);
        EXPECT_TRUE(cut.failed()) << size;
      }
    }
  }
}

}  // namespace
}  // namespace nalm::ranks_test
