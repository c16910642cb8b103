// From a table to a formula. What comes back is the model file's JSON: it has all there is to say about a fit.
#include "common.hpp"

#include "nalm/fit.hpp"
#include "report/fit_report.hpp"

namespace nalm::python {
namespace {

Table table_of(const Matrix& values, const std::vector<std::string>& columns) {
  if (values.shape(1) != columns.size()) throw Failure("every column needs a name, and every name a column.");
  Table table;
  table.columns = columns;
  table.has_header = true;
  table.rows = values.shape(0);
  table.values.assign(values.data(), values.data() + values.size());
  return table;
}

// (JSON, or None if there is not even a candidate; why not; what was raised meanwhile, or None).
nb::tuple fit_table(const Matrix& values, const std::vector<std::string>& columns, const std::string& target,
                    const std::vector<std::string>& inputs, const std::string& stack, const std::string& powers,
                    const std::string& functions, const std::vector<std::pair<std::string, std::string>>& units,
                    const std::vector<std::string>& use, const std::string& weights, const std::string& sigma,
                    bool relative, bool robust, std::uint64_t seed, int threads, double time_limit,
                    const std::string& command, const nb::object& progress) {
  const Table table = table_of(values, columns);
  FitOptions options;
  options.target = target;
  options.inputs = inputs;
  options.stack = stack;
  if (powers != "integer" && powers != "half" && powers != "any")
    throw Failure("powers is \"integer\", \"half\" or \"any\", not \"" + powers + "\".");
  options.powers = powers == "integer" ? Powers::Integer : powers == "half" ? Powers::Half : Powers::Any;
  options.functions = read_functions(functions);
  options.units = units;
  options.use = use;
  options.weights = weights;
  options.sigma = sigma;
  options.relative = relative;
  options.robust = robust;
  options.seed = seed;
  options.threads = threads;
  options.time_limit = time_limit;

  std::mutex lock;
  FitProgress state;
  std::optional<nb::python_error> raised;
  std::function<void()> look;
  if (!progress.is_none()) {
    look = [&] {
      FitProgress now;
      {
        const std::lock_guard guard(lock);
        now = state;
      }
      progress(now.share, now.restarts, now.best);
    };
  }
  const Result<Fit> result = interruptibly(
      [&](std::stop_token stop) {
        FitWatch watch;
        watch.stop = std::move(stop);
        watch.progress = [&](const FitProgress& now) {
          const std::lock_guard guard(lock);
          state = now;
        };
        return fit(table, options, watch);
      },
      raised, look);
  if (!result && !raised) throw Failure(result.error().message);
  if (!result || result->candidates.empty())
    return nb::make_tuple(nb::none(), result ? result->reason : result.error().message, exception_of(raised));
  return nb::make_tuple(to_json(*result, table, {"", command}), "", exception_of(raised));
}

}  // namespace

void bind_fits(nb::module_& m) {
  m.def("fit", &fit_table, nb::arg("values").noconvert(), nb::arg("columns"), nb::arg("target"), nb::arg("inputs"),
        nb::arg("stack"), nb::arg("powers"), nb::arg("functions"), nb::arg("units"), nb::arg("use"), nb::arg("weights"),
        nb::arg("sigma"), nb::arg("relative"), nb::arg("robust"), nb::arg("seed"), nb::arg("threads"),
        nb::arg("time_limit"), nb::arg("command"), nb::arg("progress").none());
  m.def("fit_page", [](const std::string& json, const std::string& name) { return take(fit_page(json, name)); });
}

}  // namespace nalm::python
