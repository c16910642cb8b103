#include "experiment/ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <thread>

#include "base/threads.hpp"
#include "experiment/crew.hpp"
#include "experiment/rank_message.hpp"
#include "nalm/version.hpp"

namespace nalm {
namespace {

using Clock = std::chrono::steady_clock;

using Word = RankWord;

// Between two looks at what others say: long enough to cost nothing, short enough to be no part of a run's time. What
// is being sent wants more looks, and a core that trains has no time for a loop.
constexpr std::chrono::microseconds idle_time{4000}, time_of_sending{200};

void rest(Link& link) { std::this_thread::sleep_for(link.is_sending() ? time_of_sending : idle_time); }
// Large results go in parts, so that what a rank says now and then is not kept back for long.
constexpr std::size_t large_message = 4 << 20;
// Finished runs that are stored at once: a transaction costs as much as hundreds of runs.
constexpr std::size_t runs_to_store = 2048;

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

void send_finished(Link& link, std::vector<FinishedRuns> all, int pieces) {
  for (FinishedRuns& finished : all) {
    for (std::size_t k = 0; k < finished.runs.size();) {
      ByteWriter runs;
      std::uint64_t count = 0;
      for (; k < finished.runs.size() && runs.size() < large_message; ++k, ++count) write(runs, finished.runs[k]);
      ByteWriter writer = message(Word::Finished);
      writer.number(0);
      write(writer, std::exchange(finished.timings, {}));
      writer.number(count);
      link.send(0, writer.take() + runs.take());
    }
  }
  if (pieces == 0) return;
  ByteWriter writer = message(Word::Finished);
  writer.number(pieces);
  write(writer, std::vector<std::pair<std::string_view, double>>());
  writer.number<std::uint64_t>(0);
  link.send(0, writer.take());
}

// What is left to hand out: the groups that cost most first. Pieces get smaller towards the end, so that all ranks end
// together; but not smaller than a unit.
class Pile {
 public:
  explicit Pile(std::vector<Unit> units) : units_(std::move(units)), left_(cost_of(units_)) {
    std::map<std::size_t, double> of_group;
    for (const Unit& unit : units_) of_group[unit.group] += unit.cost;
    std::stable_sort(units_.begin(), units_.end(), [&](const Unit& a, const Unit& b) {
      return std::pair(-of_group[a.group], a.group) < std::pair(-of_group[b.group], b.group);
    });
  }
  bool empty() const { return next_ == units_.size(); }
  std::size_t units() const { return units_.size() - next_; }

  std::vector<RunId> take(int pieces_at_once) {
    const double most = left_ / (2.0 * pieces_at_once);
    std::vector<RunId> piece;
    double cost = 0;
    const std::size_t first = next_;
    while (!empty() && units_[next_].group == units_[first].group &&
           (next_ == first || cost + units_[next_].cost <= most)) {
      const Unit& unit = units_[next_++];
      piece.insert(piece.end(), unit.runs.begin(), unit.runs.end());
      cost += unit.cost;
    }
    left_ -= cost;
    return piece;
  }

 private:
  std::vector<Unit> units_;
  std::size_t next_ = 0;
  double left_;
};

// Rank 0, while runs are trained.
class Leading {
 public:
  Leading(Link& link, const RankSettings& settings, const Plan& plan, const std::vector<Cell>& cells,
          const std::vector<RunId>& runs, std::size_t lanes, const ExecutorSettings& executor)
      : link_(link),
        settings_(settings),
        executor_(executor),
        cells_(cells),
        pile_(plan.task->divide(cells, runs, lanes)),
        left_(runs.size()),
        ranks_(static_cast<std::size_t>(link.size())),
        crew_(*plan.task, cells, threads_of(settings, link)) {
    for (const RunId& run : runs) total_ += cost_of(cells[run.cell]);
    for (Rank& rank : ranks_) rank.heard = Clock::now();
    ranks_[0].at_once = crew_.pieces_at_once();
    at_once_ = ranks_[0].at_once;
    ByteWriter writer = message(Word::Plan);
    writer.text(version());
    writer.text(to_json(plan));
    tell_all(writer.take());
  }

  Status run() {
    while (left_ > 0 && !error_ && !stops_ && !executor_.stop.stop_requested()) {
      const bool news = hear() | hear_crew();
      store(false);
      hand_out();
      show_progress();
      beat();
      if (!news) {
        store(true);
        rest(link_);
      }
    }
    hear_crew();
    store(true);
    return error_ ? Status(*error_) : Status(Done{});
  }

  // What the others had finished before they were sent home. False: somebody does not answer.
  bool send_home() {
    tell_all(message(Word::Home).take());
    crew_.stop();
    hear_crew();
    const Clock::time_point end = Clock::now() + settings_.farewell;
    while (!all_gone() && Clock::now() < end) {
      if (hear()) continue;
      store(true);
      rest(link_);
    }
    store(true);
    return all_gone();
  }

  // Also when an error came after the last run.
  const std::optional<Error>& error() const { return error_; }
  bool is_silent() const { return silent_; }
  bool was_stopped() const { return stops_ || executor_.stop.stop_requested(); }

 private:
  struct Rank {
    int at_once = 0;  // pieces
    int given = 0;    // pieces that it has
    double in_training = 0;
    std::string host = "?";
    Clock::time_point heard;
    bool gone = false;
  };

  void tell_all(const std::string& bytes) {
    for (int rank = 1; rank < link_.size(); ++rank) link_.send(rank, bytes);
  }
  bool all_gone() const {
    return std::all_of(ranks_.begin() + 1, ranks_.end(), [](const Rank& rank) { return rank.gone; });
  }
  std::string name_of(int rank) const {
    return fmt::format("rank {} on {}", rank, ranks_[static_cast<std::size_t>(rank)].host);
  }
  void fail(std::string sentence) {
    if (!error_) error_ = Error{std::move(sentence)};
  }

  bool hear() {
    bool news = false;
    while (const std::optional<Link::Message> heard = link_.receive()) {
      news = true;
      understand(*heard);
      if (waiting_.runs.size() >= runs_to_store) break;
    }
    return news;
  }

  void understand(const Link::Message& heard) {
    Rank& rank = ranks_[static_cast<std::size_t>(heard.from)];
    rank.heard = Clock::now();
    ByteReader reader(heard.bytes);
    switch (reader.number<Word>()) {
      case Word::Ready:
        rank.at_once = std::max(1, reader.number<int>());
        rank.host = reader.text();
        at_once_ += rank.at_once;
        break;
      case Word::Finished: {
        rank.given -= reader.number<int>();
        for (const auto& [name, seconds] : read_timings(reader)) timings_[name] += seconds;
        const auto count = reader.number<std::uint64_t>();
        for (std::uint64_t k = 0; k < count && !reader.failed(); ++k) add(read_run(reader));
        break;
      }
      case Word::Beat:
        rank.in_training = reader.number<double>();
        break;
      case Word::Stop:
        stops_ = true;
        break;
      case Word::Fault:
        fail(fmt::format("{}: {}", name_of(heard.from), reader.text()));
        break;
      case Word::Bye:
        rank.gone = true;
        break;
      default:
        fail(fmt::format("{} says what no rank of this version says; start the same nalm everywhere.",
                         name_of(heard.from)));
    }
    if (reader.failed()) fail(fmt::format("a message of {} is not whole.", name_of(heard.from)));
  }

  void add(FinishedRun run) {
    if (run.id.cell >= cells_.size()) return fail("a rank trained a run that nobody asked for.");
    waiting_.runs.push_back(std::move(run));
  }

  bool hear_crew() {
    Crew::Output output = crew_.take();
    ranks_[0].given -= output.pieces;
    ranks_[0].in_training = output.in_training;
    for (FinishedRuns& finished : output.finished) {
      std::move(finished.runs.begin(), finished.runs.end(), std::back_inserter(waiting_.runs));
      for (const auto& [name, seconds] : finished.timings) timings_[std::string(name)] += seconds;
    }
    if (output.error) fail(fmt::format("{}: {}", "rank 0", output.error->message));
    return output.pieces > 0 || !output.finished.empty();
  }

  // What is waiting, if it is worth it or nothing else is to be done. After an error nobody stores anything.
  void store(bool all) {
    if (waiting_.runs.empty()) return;
    if (!all && waiting_.runs.size() < runs_to_store && Clock::now() - stored_ < settings_.beat) return;
    left_ -= std::min(left_, waiting_.runs.size());
    for (const FinishedRun& run : waiting_.runs) done_ += cost_of(cells_[run.id.cell]);
    for (const auto& [name, seconds] : timings_) waiting_.timings.emplace_back(name, seconds);
    if (!cannot_store_)
      if (const Status stored = executor_.finished(waiting_); !stored) {
        cannot_store_ = true;
        fail(stored.error().message);
      }
    waiting_ = {};
    timings_.clear();
    stored_ = Clock::now();
  }

  // One piece more than a rank can train, while there is plenty, so that it does not wait for the next one.
  void hand_out() {
    bool some = true;
    while (some && !pile_.empty()) {
      some = false;
      for (std::size_t k = 0; k < ranks_.size() && !pile_.empty(); ++k) {
        Rank& rank = ranks_[k];
        const bool plenty = pile_.units() > 4 * static_cast<std::size_t>(at_once_);
        if (rank.gone || rank.given >= rank.at_once * (plenty ? 2 : 1)) continue;
        std::vector<RunId> piece = pile_.take(at_once_);
        ++rank.given;
        some = true;
        if (k == 0) {
          crew_.give(std::move(piece));
        } else {
          ByteWriter writer = message(Word::Work);
          write(writer, piece);
          link_.send(static_cast<int>(k), writer.take());
        }
      }
    }
  }

  void show_progress() {
    double done = done_;
    for (const Rank& rank : ranks_) done += rank.in_training;
    if (executor_.progress) executor_.progress->store(done / std::max(total_, 1.0), std::memory_order_relaxed);
  }

  void beat() {
    const Clock::time_point now = Clock::now();
    const Clock::duration since = now - beaten_;
    if (since < settings_.beat) return;
    beaten_ = now;
    // Who was busy did not listen: nobody else is to blame.
    if (since > 2 * settings_.beat)
      for (Rank& rank : ranks_) rank.heard += since;
    tell_all(message(Word::Beat).take());
    for (std::size_t k = 1; k < ranks_.size(); ++k) {
      if (ranks_[k].gone || now - ranks_[k].heard < settings_.silence) continue;
      silent_ = true;
      fail(fmt::format("{} has not been heard of for {} s: it is dead or cut off, so the job ends.",
                       name_of(static_cast<int>(k)),
                       std::chrono::duration_cast<std::chrono::seconds>(settings_.silence).count()));
    }
  }

  Link& link_;
  const RankSettings& settings_;
  const ExecutorSettings& executor_;
  const std::vector<Cell>& cells_;
  Pile pile_;
  std::size_t left_;  // runs that are not stored
  std::vector<Rank> ranks_;
  int at_once_ = 0;              // pieces, of all ranks that are ready
  double total_ = 0, done_ = 0;  // costs
  FinishedRuns waiting_;         // to be stored
  std::map<std::string, double> timings_;
  Clock::time_point stored_ = Clock::now(), beaten_ = Clock::now();
  std::optional<Error> error_;
  bool stops_ = false, silent_ = false, cannot_store_ = false;
  Crew crew_;
};

}  // namespace

int threads_of(const RankSettings& settings, const Link& link) {
  if (settings.threads > 0) return settings.threads;
  const int bound = processor_count();
  const bool is_bound = bound < static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return is_bound ? bound : std::max(1, bound / link.on_this_machine());
}

Status Leader::train(const Plan& plan, const std::vector<Cell>& cells, const std::vector<RunId>& runs,
                     const ExecutorSettings& settings) {
  const Result<const simd::Target*> target = simd::choose_target();
  if (!target) return target.error();
  const auto lanes = static_cast<std::size_t>((*target)->float_lanes);
  Leading leading(link_, settings_, plan, cells, runs, lanes, settings);
  const Status trained = leading.run();
  are_gone_ = true;
  cannot_be_reached_ = leading.is_silent() || !leading.send_home();
  // A launcher that was told to end may keep waiting who finishes, and kill it: the last word comes first.
  is_connected_ = !cannot_be_reached_ && leading.was_stopped();
  if (!cannot_be_reached_ && !is_connected_) link_.finish();
  if (!trained) return trained;
  return leading.error() ? Status(*leading.error()) : Status(Done{});
}

bool Leader::send_home() {
  for (int rank = 1; rank < link_.size(); ++rank) link_.send(rank, message(Word::Home).take());
  int gone = 0;
  const Clock::time_point end = Clock::now() + settings_.farewell;
  while (gone < link_.size() - 1 && Clock::now() < end) {
    if (const auto heard = link_.receive()) {
      gone += ByteReader(heard->bytes).number<Word>() == Word::Bye ? 1 : 0;
    } else {
      rest(link_);
    }
  }
  return gone == link_.size() - 1;
}

void Leader::leave(int exit_code) {
  if (!are_gone_) {
    are_gone_ = true;
    cannot_be_reached_ = !send_home();
    if (!cannot_be_reached_) link_.finish();
  }
  if (is_connected_) link_.finish();
  is_connected_ = false;
  if (cannot_be_reached_) link_.abort(exit_code);
}

Status follow(Link& link, const RankSettings& settings, const std::stop_token& stop) {
  std::vector<Cell> cells;
  std::unique_ptr<Crew> crew;
  Clock::time_point heard = Clock::now(), beaten = heard;
  bool asked_to_stop = false;
  const auto fault = [&](const std::string& sentence) {
    ByteWriter writer = message(Word::Fault);
    writer.text(sentence);
    link.send(0, writer.take());
  };
  const auto begin = [&](ByteReader& reader) -> Status {
    if (reader.text() != version()) return Error{"this is another version of nalm; start the same one everywhere."};
    const Result<Plan> plan = plan_from_json(reader.text());
    if (!plan) return plan.error();
    Result<std::vector<Cell>> made = cells_of(*plan);
    if (!made) return made.error();
    cells = std::move(*made);
    crew = std::make_unique<Crew>(*plan->task, cells, threads_of(settings, link));
    ByteWriter writer = message(Word::Ready);
    writer.number(crew->pieces_at_once());
    writer.text(host_name());
    link.send(0, writer.take());
    return Done{};
  };
  const auto report = [&] {
    if (!crew) return false;
    Crew::Output output = crew->take();
    const bool news = output.pieces > 0 || !output.finished.empty();
    if (news) send_finished(link, std::move(output.finished), output.pieces);
    if (output.error) fault(output.error->message);
    if (Clock::now() - beaten < settings.beat) return news;
    beaten = Clock::now();
    ByteWriter writer = message(Word::Beat);
    writer.number(output.in_training);
    link.send(0, writer.take());
    return news;
  };
  for (bool home = false; !home;) {
    bool news = report();
    while (const std::optional<Link::Message> one = link.receive()) {
      news = true;
      heard = Clock::now();
      ByteReader reader(one->bytes);
      const Word word = reader.number<Word>();
      if (word == Word::Plan)
        if (const Status begun = begin(reader); !begun) fault(begun.error().message);
      if (word == Word::Work && crew) crew->give(read_ids(reader));
      home = home || word == Word::Home;
    }
    if (stop.stop_requested() && !asked_to_stop) {
      asked_to_stop = true;
      link.send(0, message(Word::Stop).take());
    }
    if (crew && Clock::now() - heard > settings.silence)
      return Error{fmt::format(
          "rank {} on {}: rank 0 has not been heard of for {} s: it is dead or cut off, so the job "
          "ends; what it stored can be resumed.",
          link.rank(), host_name(), std::chrono::duration_cast<std::chrono::seconds>(settings.silence).count())};
    if (!news) rest(link);
  }
  if (crew) crew->stop();
  report();
  link.send(0, message(Word::Bye).take());
  const Clock::time_point end = Clock::now() + settings.farewell;
  while (link.is_sending() && Clock::now() < end) rest(link);
  link.finish();
  return Done{};
}

}  // namespace nalm
