#include "experiment/rank_message.hpp"

namespace nalm {
namespace {

// A list whose length is not to be believed: f() so often, or until nothing is left.
template <class F>
void repeat(ByteReader& from, F f) {
  const auto count = from.number<std::uint64_t>();
  for (std::uint64_t k = 0; k < count && !from.failed(); ++k) f();
}

void write_rows(ByteWriter& to, const std::vector<std::vector<double>>& rows) {
  to.number<std::uint64_t>(rows.size());
  for (const std::vector<double>& row : rows) to.numbers(row);
}

std::vector<std::vector<double>> read_rows(ByteReader& from) {
  std::vector<std::vector<double>> rows;
  repeat(from, [&] { rows.push_back(from.numbers<double>()); });
  return rows;
}

RunId read_id(ByteReader& from) {
  const auto cell = from.number<std::uint64_t>();
  return {cell, from.number<std::uint32_t>()};
}

void write_id(ByteWriter& to, const RunId& id) {
  to.number<std::uint64_t>(id.cell);
  to.number<std::uint32_t>(id.seed);
}

}  // namespace

void write(ByteWriter& to, const std::vector<RunId>& ids) {
  to.number<std::uint64_t>(ids.size());
  for (const RunId& id : ids) write_id(to, id);
}

std::vector<RunId> read_ids(ByteReader& from) {
  std::vector<RunId> ids;
  repeat(from, [&] { ids.push_back(read_id(from)); });
  return ids;
}

void write(ByteWriter& to, const FinishedRun& run) {
  const RunRecord& record = run.record;
  write_id(to, run.id);
  to.number(run.seconds);
  to.numbers(record.steps);
  write_rows(to, record.values);
  write_rows(to, record.parameters);
  to.text(record.note);
  to.number<std::uint64_t>(record.facts.size());
  for (const auto& [name, value] : record.facts) to.text(name), to.text(value);
}

FinishedRun read_run(ByteReader& from) {
  FinishedRun run;
  run.id = read_id(from);
  run.seconds = from.number<double>();
  run.record.steps = from.numbers<long>();
  run.record.values = read_rows(from);
  run.record.parameters = read_rows(from);
  run.record.note = from.text();
  repeat(from, [&] {
    std::string name = from.text();
    run.record.facts.emplace_back(std::move(name), from.text());
  });
  return run;
}

void write(ByteWriter& to, const std::vector<std::pair<std::string_view, double>>& timings) {
  to.number<std::uint64_t>(timings.size());
  for (const auto& [name, seconds] : timings) to.text(name), to.number(seconds);
}

std::vector<std::pair<std::string, double>> read_timings(ByteReader& from) {
  std::vector<std::pair<std::string, double>> timings;
  repeat(from, [&] {
    std::string name = from.text();
    timings.emplace_back(std::move(name), from.number<double>());
  });
  return timings;
}

}  // namespace nalm
