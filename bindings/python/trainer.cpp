// Many trainings of one network at once, on batches from Python or on rows of arrays.
#include "common.hpp"

#include "base/random.hpp"
#include "nalm/model.hpp"
#include "nalm/train.hpp"
#include "train/recipe_fields.hpp"

namespace nalm::python {
namespace {

Trainer make(const std::string& stack, int inputs, const std::string& recipe, int runs, bool in_double, int threads) {
  Trainer::Settings settings = default_training(take(parse_stack(stack, inputs)));
  if (!recipe.empty()) settings.recipe = take(change_recipe(settings.recipe, recipe));
  settings.runs = runs;
  settings.precision = in_double ? Precision::Double : Precision::Float;
  settings.threads = threads;
  return take(Trainer::create(std::move(settings)));
}

// progress(iteration) is called every so many iterations. An iteration count of -1: as long as the recipe says.
nb::object train(Trainer& trainer, long iterations, const BatchSource& source, const nb::object& progress, long every,
                 std::optional<nb::python_error>& raised) {
  std::optional<nb::python_error> in_progress;
  const Status trained = interruptibly(
      [&](std::stop_token stop) {
        std::stop_source own;
        const std::stop_callback forward(stop, [&] { own.request_stop(); });
        TrainWatch watch;
        watch.stop = own.get_token();
        watch.every = every;
        if (!progress.is_none()) {
          watch.progress = [&](Trainer& now) {
            const nb::gil_scoped_acquire acquire;
            try {
              progress(now.iteration());
            } catch (nb::python_error& error) {
              if (!in_progress) in_progress.emplace(std::move(error));
              own.request_stop();
            }
          };
        }
        return iterations < 0 ? trainer.train(source, watch) : trainer.train(iterations, source, watch);
      },
      raised);
  if (in_progress) return nb::borrow(in_progress->value());
  if (raised) return nb::borrow(raised->value());
  take(trained);
  return nb::none();
}

// source(run, iteration) gives a batch: arrays with the inputs and the targets.
nb::object train_on_batches(Trainer& trainer, long iterations, const nb::object& source, const nb::object& progress,
                            long every) {
  std::mutex lock;
  std::optional<nb::python_error> in_source, raised;
  const BatchSource batches = [&](int run, long iteration, std::span<double> x, std::span<double> t) {
    const nb::gil_scoped_acquire acquire;
    try {
      const auto [rows, targets] = nb::cast<std::pair<Matrix, Matrix>>(source(run, iteration));
      if (rows.size() != x.size() || targets.size() != t.size())
        throw Failure("a batch has " + std::to_string(x.size()) + " inputs and " + std::to_string(t.size()) +
                      " targets in all, not " + std::to_string(rows.size()) + " and " + std::to_string(targets.size()) +
                      ".");
      std::copy_n(rows.data(), x.size(), x.data());
      std::copy_n(targets.data(), t.size(), t.data());
    } catch (nb::python_error& error) {
      const std::lock_guard guard(lock);
      if (!in_source) in_source.emplace(std::move(error));
      throw std::runtime_error("the source of batches raised an exception");
    }
  };
  try {
    return train(trainer, iterations, batches, progress, every, raised);
  } catch (const Failure&) {
    if (!in_source) throw;
  }
  return nb::borrow(in_source->value());
}

// Batches of rows of two arrays, drawn with replacement; which ones depends on seed, run and iteration only.
nb::object train_on_rows(Trainer& trainer, long iterations, const Matrix& x, const Matrix& t, std::uint64_t seed,
                         const nb::object& progress, long every) {
  const std::size_t rows = x.shape(0), inputs = x.shape(1), outputs = t.shape(1);
  if (rows == 0 || t.shape(0) != rows) throw Failure("inputs and targets need the same number of rows, at least one.");
  std::optional<nb::python_error> raised;
  const BatchSource batches = [&](int run, long iteration, std::span<double> batch_x, std::span<double> batch_t) {
    if (batch_x.size() / inputs != batch_t.size() / outputs || batch_x.size() % inputs != 0)
      throw std::runtime_error("the arrays do not have as many columns as the network has inputs and outputs.");
    Xoshiro random(seed + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(run) + 1) +
                   0xbf58476d1ce4e5b9u * (static_cast<std::uint64_t>(iteration) + 1));
    for (std::size_t k = 0; k < batch_x.size() / inputs; ++k) {
      const std::size_t row = random.below(rows);
      std::copy_n(x.data() + row * inputs, inputs, batch_x.data() + k * inputs);
      std::copy_n(t.data() + row * outputs, outputs, batch_t.data() + k * outputs);
    }
  };
  return train(trainer, iterations, batches, progress, every, raised);
}

}  // namespace

void bind_trainer(nb::module_& m) {
  nb::class_<Trainer>(m, "Trainer")
      .def_static("make", &make, nb::arg("stack"), nb::arg("inputs"), nb::arg("recipe"), nb::arg("runs"),
                  nb::arg("in_double"), nb::arg("threads"))
      .def_static("load",
                  [](const std::string& path, int threads) { return take(Trainer::load_checkpoint(path, threads)); })
      .def_static("parse", [](const std::string& json,
                              int threads) { return take(Trainer::from_checkpoint(json, "the checkpoint", threads)); })
      .def("save", [](const Trainer& t, const std::string& path) { take(t.save_checkpoint(path)); })
      .def("checkpoint", [](const Trainer& t) { return take(t.checkpoint()); })
      .def("start", [](Trainer& t, int run, std::uint64_t seed) { take(t.start(run, seed)); })
      .def("start_from",
           [](Trainer& t, int run, const Model& model, std::uint64_t seed) { take(t.start_from(run, model, seed)); })
      .def("train_on_batches", &train_on_batches, nb::arg("iterations"), nb::arg("source"), nb::arg("progress").none(),
           nb::arg("every"))
      .def("train_on_rows", &train_on_rows, nb::arg("iterations"), nb::arg("x").noconvert(), nb::arg("t").noconvert(),
           nb::arg("seed"), nb::arg("progress").none(), nb::arg("every"))
      .def("set_validation_error", [](Trainer& t, int run, double error) { take(t.set_validation_error(run, error)); })
      .def_prop_ro("runs", &Trainer::runs)
      .def_prop_ro("iteration", &Trainer::iteration)
      .def("model", [](const Trainer& t, int run) { return take(t.model(run)); })
      .def(
          "predict",
          [](const Trainer& t, int run, const Matrix& rows) {
            std::vector<double> y = take(t.predict(run, numbers(rows)));
            const std::size_t outputs = rows.shape(0) == 0 ? 0 : y.size() / rows.shape(0);
            return to_numpy(std::move(y), {rows.shape(0), outputs});
          },
          nb::arg("run"), nb::arg("rows").noconvert());
}

}  // namespace nalm::python
