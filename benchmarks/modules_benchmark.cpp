// What one training iteration costs per run, for every module: 2 inputs, 1 output, a batch of 128 that is given,
// forward, backward, regulariser and Adam; and beside it what the transcendental functions in it cost alone.
//
//   build/dev/benchmarks/nalm_benchmark
//
// All numbers of a line come from the same run; on a shared machine compare ratios, not nanoseconds between runs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>

#include "nalm/train.hpp"
#include "nalm/version.hpp"
#include "simd/function_kernels.hpp"
#include "tasks/arithmetic_dataset.hpp"
#include "train/bundle.hpp"

namespace {

using namespace nalm;

constexpr int batch = 128;

// Nanoseconds per value of each function, best of many short runs over a first-level-cache array.
std::map<std::string, double> function_costs() {
  constexpr int n = 1024;
  AlignedVector<float> in(n), out(n);
  for (int k = 0; k < n; ++k) in[static_cast<std::size_t>(k)] = 0.5f + static_cast<float>(k) / n;
  std::map<std::string, double> costs;
  for (const auto& kernel : simd::function_kernels<float>(simd::active_target().index)) {
    double best = 1e9;
    for (int repeat = 0; repeat < 300; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      for (int k = 0; k < 8; ++k) {
        kernel.apply(in.data(), out.data(), n);
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
      }
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count() / (8 * n));
    }
    costs[std::string(kernel.name)] = best;
  }
  return costs;
}

// The distinct function calls of the module's formula, per sample.
void collect_calls(const Expression& e, std::set<std::string>& seen, std::map<std::string, int>& calls) {
  if (e.kind() == Expression::Kind::Constant || e.kind() == Expression::Kind::Variable) return;
  for (const Expression& operand : e.operands()) collect_calls(operand, seen, calls);
  if (e.kind() == Expression::Kind::Call && seen.insert(print(e)).second) ++calls[e.name()];
}

std::map<std::string, int> calls_per_sample(const Stack& stack) {
  Model model;
  Xoshiro random(1);
  for (const LayerSpec& spec : stack) {
    std::vector<double> p(static_cast<std::size_t>(parameter_count(*spec.module, spec.shape)));
    for (double& value : p) value = random.between(0.2, 0.8);
    model.layers.push_back({spec.module, spec.shape, p});
  }
  std::set<std::string> seen;
  std::map<std::string, int> calls;
  const Result<Formula> formula = literal_formula(model, {});
  for (const Expression& e : formula->outputs) collect_calls(e, seen, calls);
  return calls;
}

template <class S>
void iteration(benchmark::State& state, const ModuleInfo* module) {
  static const std::map<std::string, double> costs = function_costs();
  const int outputs = module->outputs_multiple_of;
  const Stack stack{{module, default_shape(*module, 2, outputs)}};
  Bundle<S> bundle(stack, default_recipe(stack), simd::active_target());
  const std::size_t lanes = static_cast<std::size_t>(bundle.lanes());
  for (int lane = 0; lane < bundle.lanes(); ++lane) bundle.start(lane, std::make_shared<TorchStream>(lane));
  AlignedVector<S> x(batch * 2 * lanes), t(batch * static_cast<std::size_t>(outputs) * lanes);
  Xoshiro random(7);
  for (S& value : x) value = static_cast<S>(random.between(0.3, 0.9));
  for (S& value : t) value = static_cast<S>(random.between(0.3, 0.9));
  for (auto _ : state) bundle.step(x.data(), t.data(), batch);

  double bare = 0;
  for (const auto& [name, count] : calls_per_sample(stack)) {
    // Gates use the fast sigmoid; backward needs the sine beside the cosine.
    const std::string kernel = name == "sigmoid" ? "sigmoid_fast" : name == "cos" ? "sincos" : name;
    if (const auto found = costs.find(kernel); found != costs.end() && name != "sign" && name != "negative") {
      bare += found->second * count * batch;
    }
  }
  state.counters["per_run"] = benchmark::Counter(
      static_cast<double>(lanes), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  if (sizeof(S) == sizeof(float)) state.counters["bare_functions"] = bare * 1e-9;
}

// One iteration of the arithmetic dataset's multiplication: 100 inputs, NAU to 2, NMU to 1, with its batch drawn.
void stack_iteration(benchmark::State& state, bool draw) {
  const simd::Target& target = simd::active_target();
  const Stack stack = *parse_stack("NAU:2,NMU:1", 100);
  Recipe recipe;
  recipe.layers.assign(2, {.regularisers = {Regulariser::sparsity(10, 0, 1)}, .starts = {}});
  Bundle<float> bundle(stack, recipe, target);
  std::vector<std::uint32_t> seeds;
  std::vector<Subsets> subsets;
  for (int lane = 0; lane < bundle.lanes(); ++lane) {
    bundle.start(lane, std::make_shared<Xoshiro>(lane));
    seeds.push_back(static_cast<std::uint32_t>(lane));
    subsets.push_back(subsets_of({}, seeds.back()));
  }
  SubsetSource source(target, seeds, subsets, {1, 2, {}}, SubsetOperation::Multiply, 100, batch);
  const std::size_t lanes = seeds.size();
  AlignedVector<float> x(batch * 100 * lanes), t(batch * lanes);
  source.batch(0, x.data(), t.data());
  for (auto _ : state) {
    if (draw) source.batch(0, x.data(), t.data());
    bundle.step(x.data(), t.data(), batch);
  }
  state.counters["per_run"] = benchmark::Counter(
      static_cast<double>(lanes), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void function(benchmark::State& state, const simd::FunctionKernel<float>& kernel) {
  constexpr int n = 1024;
  AlignedVector<float> in(n), out(n);
  for (int k = 0; k < n; ++k) in[static_cast<std::size_t>(k)] = 0.5f + static_cast<float>(k) / n;
  for (auto _ : state) {
    kernel.apply(in.data(), out.data(), n);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.counters["per_value"] =
      benchmark::Counter(n, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace

namespace {
// The machine may be shared: of many short repetitions the best one is the one least disturbed.
void keep_best(benchmark::internal::Benchmark* b) {
  b->MinTime(0.01)->Repetitions(40)->ReportAggregatesOnly()->ComputeStatistics(
      "best", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); });
}
}  // namespace

int main(int argc, char** argv) {
  benchmark::AddCustomContext("nalm", std::string(nalm::version()));
  benchmark::AddCustomContext("compiler", std::string(nalm::compiler()));
  benchmark::AddCustomContext("simd", std::string(nalm::simd_target()));
  for (const nalm::ModuleInfo* module : nalm::all_modules()) {
    benchmark::RegisterBenchmark(("iteration/float/" + std::string(module->name)).c_str(), iteration<float>, module)
        ->Apply(keep_best);
  }
  for (const nalm::ModuleInfo* module : nalm::all_modules()) {
    benchmark::RegisterBenchmark(("iteration/double/" + std::string(module->name)).c_str(), iteration<double>, module)
        ->Apply(keep_best);
  }
  benchmark::RegisterBenchmark("stack/100 inputs, NAU:2,NMU:1", stack_iteration, true)->Apply(keep_best);
  benchmark::RegisterBenchmark("stack/the same, batch given", stack_iteration, false)->Apply(keep_best);
  for (const auto& kernel : nalm::simd::function_kernels<float>(nalm::simd::active_target().index)) {
    benchmark::RegisterBenchmark(("function/float/" + std::string(kernel.name)).c_str(), function, kernel)
        ->Apply(keep_best);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
