#include "experiment/published.hpp"

#include <cstdlib>

#include "base/csv.hpp"
#include "base/number.hpp"

namespace nalm {

namespace assets {
extern const std::string_view published_tasks;  // data/published_tasks.csv
}

std::vector<PublishedFigure> published_in_tasks_csv(std::string_view task) {
  std::vector<PublishedFigure> figures;
  for_each_line(assets::published_tasks, [&](const std::vector<std::string>& cells) {
    if (cells.size() < 10 || cells[0] != task) return;
    PublishedFigure figure{
        cells[1], cells[2], cells[3], cells[4], {number_of(cells[5]).value_or(no_value), no_value, no_value}, cells[6]};
    if (!cells[7].empty()) figure.runs = std::atoi(cells[7].c_str());
    figure.mean = cells[8] == "mean";
    figure.comparable = cells[9] == "yes";
    figures.push_back(std::move(figure));
  });
  return figures;
}

}  // namespace nalm
