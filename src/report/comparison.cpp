#include "report/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "report/columns.hpp"

namespace nalm {
namespace {

std::string number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4g}", value); }
std::string signed_percent(double value) { return fmt::format("{:+.1f}", 100 * value); }

std::string rate_words(const ComparedFigure& f) {
  const PublishedFigure& figure = *f.figure;
  constexpr std::string_view verdicts[] = {"equal", "agrees", "DIFFERS", "shown only"};
  std::string words(verdicts[static_cast<std::size_t>(f.verdict)]);
  if (f.allowed) words += fmt::format(" ({} run{} allowed)", *f.allowed, *f.allowed == 1 ? "" : "s");
  if (!std::isnan(figure.value.lo)) {
    const bool inside = f.ours.value >= figure.value.lo - 0.005 && f.ours.value <= figure.value.hi + 0.005;
    words += fmt::format(", {} [{:.0f}, {:.0f}]", inside ? "inside" : "not in", 100 * figure.value.lo,
                         100 * figure.value.hi);
  }
  return words + (figure.source.empty() ? "" : fmt::format(" ({})", figure.source));
}

std::string_view other_words(const ComparedFigure& f) {
  constexpr std::string_view words[] = {"equal as printed", "intervals overlap", "DIFFERS", "shown only"};
  return words[static_cast<std::size_t>(f.verdict)];
}

}  // namespace

std::string print(const Comparison& comparison, bool all) {
  Columns columns(4);
  columns.add({"model", "operation", "setting", "what", "ours", "published", "difference", "verdict"});
  int shown = 0;
  for (const ComparedFigure& f : comparison.figures) {
    const bool rate = f.figure->what == "success";
    const bool is_news = rate ? f.verdict != ComparedFigure::Verdict::Equal &&
                                    !(f.verdict == ComparedFigure::Verdict::Agrees && !f.allowed)
                         : f.verdict == ComparedFigure::Verdict::ShownOnly
                             ? !f.figure->same_seeds
                             : f.verdict != ComparedFigure::Verdict::Equal;
    if (!all && !is_news) continue;
    ++shown;
    std::string ours = number(f.ours.value), theirs = number(f.figure->value.value), difference = "-";
    if (rate) {
      ours = fmt::format("{}/{} = {}", f.successes, f.runs, with_interval(f.ours, percent));
      theirs = fmt::format("{:.4g}", 100 * f.figure->value.value);
      difference = f.allowed ? fmt::format("{:+} run{}", f.difference(), std::abs(f.difference()) == 1 ? "" : "s")
                             : signed_percent(f.ours.value - f.figure->value.value);
    } else if (!std::isnan(f.ours.value)) {
      difference = fmt::format("{:+.3g}", f.ours.value - f.figure->value.value);
    }
    columns.add({f.figure->model, f.figure->operation,
                 f.cell || f.figure->is_of_all_cells() ? f.figure->setting
                 : f.figure->what == "success"         ? "mean of all"
                                                       : "all",
                 rate ? "success %" : f.figure->what + (f.figure->mean ? ", mean" : ""), ours, theirs, difference,
                 rate ? rate_words(f) : std::string(other_words(f))});
  }
  std::string text = shown > 0 ? columns.print() : "Every cell equals the published one, or agrees with it.\n";
  if (comparison.judged == 0) {
    text += fmt::format("No success rate was published that ours could be judged by; {} other figures are shown.",
                        comparison.figures.size());
    return text + (comparison.remark.empty() ? "" : " " + comparison.remark) + "\n";
  }
  if (comparison.same_seeds > 0)
    text += fmt::format(
        "{} of {} cells, run with the published seeds, equal the published count; of the {} that are reproducible seed "
        "by seed (without NPU and RealNPU) {}. Solved-at, as printed, equal in {} of {}. Limits: {} run, {} for NPU "
        "and RealNPU.\n",
        comparison.same_seeds_equal, comparison.same_seeds, comparison.reproducible, comparison.reproducible_equal,
        comparison.solved_at_equal, comparison.solved_at_compared, Comparison::allowed_reproducible,
        Comparison::allowed_chaotic);
  if (comparison.judged > comparison.same_seeds)
    text += fmt::format(
        "{} of {} published success rates agree{}: the 95 % interval of the difference holds 0 (of runs whose number "
        "nobody stated, the published rate is taken as exact).\n",
        comparison.agreeing, comparison.judged, comparison.same_seeds > 0 ? " in all" : "");
  if (!comparison.remark.empty()) text += comparison.remark + "\n";
  if (comparison.agrees()) return text + "It agrees with what was published.\n";
  return text + fmt::format("It does not agree with what was published: {}.\n", fmt::join(comparison.broken, "; "));
}

std::string print(std::span<const StoreComparison> comparisons, std::span<const std::string> names, bool all) {
  std::string text;
  for (std::size_t k = 0; k < comparisons.size(); ++k) {
    const StoreComparison& comparison = comparisons[k];
    const std::string &a = names[0], &b = names[k + 1];
    Columns columns(3);
    columns.add({"model", "operation", "setting", a, b, "difference % [95 %]", fmt::format("only {}", a),
                 fmt::format("only {}", b), "both", "verdict"});
    int shown = 0;
    for (const ComparedCell& c : comparison.cells) {
      const bool excludes_zero = c.difference.lo > 0 || c.difference.hi < 0;
      if (!all && c.first->successes == c.other->successes && c.first_only == 0 && c.other_only == 0 && !excludes_zero)
        continue;
      ++shown;
      columns.add({c.first->cell->model, c.first->cell->operation, c.first->cell->setting,
                   fmt::format("{}/{}", c.first->successes, c.first->run_count()),
                   fmt::format("{}/{}", c.other->successes, c.other->run_count()),
                   with_interval(c.difference, signed_percent), c.paired ? std::to_string(c.first_only) : "-",
                   c.paired ? std::to_string(c.other_only) : "-", c.paired ? std::to_string(c.both) : "-",
                   c.differs ? "DIFFERS" : ""});
    }
    if (shown > 0) text += columns.print();
    text += fmt::format(
        "{} against {}: {} shared cells{}{}; all shared seeds together {} points.\n", b, a, comparison.cells.size(),
        shown < static_cast<int>(comparison.cells.size())
            ? fmt::format(", {} of them the same seed by seed", static_cast<int>(comparison.cells.size()) - shown)
            : "",
        comparison.only_first + comparison.only_other > 0
            ? fmt::format(" ({} only in {}, {} only in {})", comparison.only_first, a, comparison.only_other, b)
            : "",
        with_interval(comparison.difference, signed_percent));
    for (const auto* results : {comparison.first, comparison.other})
      if (const std::vector<std::string> changes = results->info.plan.changes(); !changes.empty())
        text += fmt::format("{} was run with {}.\n", results == comparison.first ? a : b, fmt::join(changes, " "));
    text += comparison.differing > 0
                ? fmt::format("{} cells differ by more than chance allows among so many.\n", comparison.differing)
                : "No cell differs by more than chance allows among so many.\n";
  }
  return text +
         "Difference: paired by seed where both have the same seeds (Bonett and Price), otherwise of two rates "
         "(Newcombe). DIFFERS: even with the intervals widened for the number of cells (Bonferroni).\n";
}

}  // namespace nalm
