// What a module says about itself, and the list of all modules.
//
// A module is one header in nalm/modules/ and one line in nalm/modules/modules.list. The command line, the
// documentation page, the gradient check, model files and the engine read everything they need from its ModuleInfo.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/expression.hpp"
#include "nalm/recipe.hpp"
#include "nalm/result.hpp"

namespace nalm {

inline constexpr int max_options = 4;

// How large a layer is, and how it is configured. Options are in the order of ModuleInfo::options; a choice is stored
// as its position.
struct LayerShape {
  int inputs = 1;
  int outputs = 1;
  std::array<double, max_options> options{};

  bool operator==(const LayerShape&) const = default;
};

// The index space of a parameter: one axis per index, first index first.
enum class Axis { Input, Output, Comparison, Path, One };

struct Axes {
  std::array<Axis, 3> axis{};
  int count = 0;

  constexpr Axes(Axis a) : axis{a}, count(1) {}
  constexpr Axes(Axis a, Axis b) : axis{a, b}, count(2) {}
  constexpr Axes(Axis a, Axis b, Axis c) : axis{a, b, c}, count(3) {}
};
inline constexpr Axes per_input{Axis::Input};
inline constexpr Axes per_output{Axis::Output};
inline constexpr Axes per_input_and_output{Axis::Input, Axis::Output};

// The words of a module's tables. Modules themselves live in this namespace, with the functions they may use
// (nalm/modules/mathematics.hpp).
namespace modules {

// Start values. "fan" is inputs + outputs of the layer.
struct Start {
  enum class Kind {
    Constant,       // a
    Uniform,        // U(a, b)
    Normal,         // N(a, b), b the standard deviation
    XavierUniform,  // U(-r, r), r = sqrt(6 / fan)
    XavierNormal,   // N(0, sqrt(2 / (rows + columns))) of the tensor's own last two axes
    Nau,            // U(-r, r), r = min(1/2, sqrt(6 / fan))
    Nac,            // U(-r, r), r such that the variance of tanh(.)sigmoid(.) is 2 / max(fan, 5)
    Orthogonal,     // orthonormal rows or columns, whichever are fewer; a single value is 1 or -1
  };
  Kind kind = Kind::Constant;
  double a = 0, b = 0;

  static constexpr Start constant(double value) { return {Kind::Constant, value, 0}; }
  static constexpr Start uniform(double lo, double hi) { return {Kind::Uniform, lo, hi}; }
  static constexpr Start normal(double mean, double deviation) { return {Kind::Normal, mean, deviation}; }
};

struct Clamp {
  double lo, hi;
};

// Present only if option number `option` has the value `value`; option -1: always.
struct Condition {
  int option = -1;
  double value = 0;
};

}  // namespace modules

// Where a parameter ends when the weights that it makes are discrete.
enum class End {
  FarOut,        // squashed, so a large number of either sign; with a clamp, a whole number within it
  FarOutOrZero,  // the same under a tanh
  Whole,         // a whole number
  Bit,           // 0 or 1
  Zero,
  OneInput,   // far out for one input: a softmax over them
  OneOutput,  // the same over outputs
  Anywhere,
};

struct ParameterInfo {
  std::string_view name;
  Axes axes = per_input_and_output;
  modules::Start start;
  std::optional<modules::Clamp> clamp;  // applied to the stored value after every optimiser step
  std::string_view meaning;
  modules::Condition condition{};
  End end = End::FarOut;
};

// What an array means to those who judge or read a trained layer.
enum class Role {
  Detail,     // nothing that they look at
  Weight,     // per input and output: 1 uses the input, -1 subtracts or divides by it, 0 ignores it
  OfSum,      // the same, of a module that has other weights for products ...
  OfProduct,  // ... and these are they
  Divisor,    // 1 divides by the input, where the Weight before it multiplies by it
  Imaginary,  // 0 everywhere
  Gate,       // per input: 1 lets it through, 0 does not; otherwise: 1 takes the sum, 0 the product
};
constexpr bool is_weight(Role role) { return role != Role::Detail && role != Role::Gate; }

// The values that an array ends at when a module has learned something exact.
struct Discrete {
  std::span<const double> values{};
  bool whole = false;  // all whole numbers instead

  constexpr bool is_any() const { return values.empty() && !whole; }
};
namespace discrete {
inline constexpr double bit_values[] = {0, 1}, unit_values[] = {-1, 0, 1};
inline constexpr Discrete bits{bit_values}, units{unit_values}, whole{{}, true};
}  // namespace discrete

// An array that forward computes: effective weights (once per iteration) or steps (per sample, kept for backward and
// shown by `nalm explain`).
struct Quantity {
  std::string_view name;
  Axes axes = per_input_and_output;
  std::string_view formula;
  Role role = Role::Detail;
  Discrete discrete{};
  bool counts_as_sparse = is_weight(role);  // weights: enters the sparsity error
};

struct OptionInfo {
  std::string_view name;
  std::string_view meaning;
  double standard = 0;
  double lowest = 0;                           // numbers: smallest value allowed
  bool whole = false;                          // numbers: integers only
  std::array<std::string_view, 16> choices{};  // names instead of numbers, if the first is not empty
};

enum class Operation { Add, Subtract, Multiply, Divide };
inline constexpr std::array all_operations{Operation::Add, Operation::Subtract, Operation::Multiply, Operation::Divide};
std::string_view name_of(Operation operation);  // add, sub, mul, div

struct ModuleInfo;

// A layer with its numbers, for turning it into a formula. Arrays go by the names of the module's tables; the inputs
// are expressions: columns, or the outputs of the layer below.
class Readout {
 public:
  Readout(const ModuleInfo& module, const LayerShape& shape, std::span<const double> parameters,
          std::span<const double> weights, std::span<const Expression> inputs)
      : module_(module), shape_(shape), parameters_(parameters), weights_(weights), inputs_(inputs) {}

  int inputs() const { return shape_.inputs; }
  int outputs() const { return shape_.outputs; }
  double option(int k) const { return shape_.options[static_cast<std::size_t>(k)]; }
  // One index for each axis. NaN for an array or an index that there is not; `problem` then says so.
  double parameter(std::string_view name, int i, int j = 0, int k = 0);
  double weight(std::string_view name, int i, int j = 0, int k = 0);
  const Expression& x(int i) const { return inputs_[static_cast<std::size_t>(i)]; }

  // The nearest of the discrete values if it is within 1e-3. Otherwise the value itself, and a note that says so.
  double snap(double value, const Discrete& to, std::string_view what);
  // A weight, with the discrete values that its table has.
  double snapped(std::string_view name, int i, int j = 0, int k = 0);

  std::vector<std::string> notes;  // what was not discrete; which relation or rule is spelled
  bool discrete = true;            // whether everything could be rounded
  std::string problem;             // what is wrong with the module's readout, if anything

 private:
  const ModuleInfo& module_;
  const LayerShape& shape_;
  std::span<const double> parameters_;
  std::span<const double> weights_;
  std::span<const Expression> inputs_;
};

namespace modules {

// prod base^exponent, written as people do: a*b/c, with 1/c only if nothing is left above the line.
struct Power {
  Expression base;
  double exponent = 1;
};
Expression product_of_powers(const std::vector<Power>& powers);

}  // namespace modules

struct ModuleInfo {
  std::string_view name{};
  std::string_view other_name{};  // another spelling that is understood, or empty
  std::string_view title{};
  std::string_view citation{};
  std::string_view formula{};
  std::string_view learned{};                       // what is learned, and what is built in
  std::span<const std::string_view> differences{};  // from the paper, and from other implementations
  std::string_view unusual_inputs{};                // what NaN, infinities, zeros, denormals and 1e30 give
  // What `prepare` computes for each input, or empty: the first step, which depends on the input only. The engine
  // computes it once per batch for all modules whose first step has the same formula. Filled in from there.
  std::string_view prepared{};
  // The formula it trains with, or empty where that is the one above: some modules train in another form than they are
  // evaluated in. Such a module has train_forward, and its backward belongs to that.
  std::string_view training_form{};
  // The loss that it trains with as the last layer of a network where the recipe says so (Loss::Kind::Own), or empty:
  // some modules have parts that each need a loss of their own. Such a module has own_backward.
  std::string_view own_loss{};
  bool takes_noise = false;  // train_forward gets a random factor per input (TrainingRecipe::noise)
  std::span<const ParameterInfo> parameters{};
  std::span<const OptionInfo> options{};
  std::span<const Quantity> weights{};
  std::span<const Quantity> steps{};
  std::span<const Operation> operations{};  // of the single module task
  Recipe (*recipe)() = nullptr;
  bool truth_values = false;     // inputs are meant to lie in [0, 1]
  bool positive_inputs = false;  // negative inputs give NaN
  int outputs_multiple_of = 1;
  int path_option = -1;  // the option that says how many paths there are
  bool chaotic = false;  // the last bit of a start value decides which runs succeed: rates can be compared, runs cannot
};

// ---- sizes ---------------------------------------------------------------------------------------------------------

constexpr int axis_size(Axis axis, int inputs, int outputs, int paths) {
  const int sizes[] = {inputs, outputs, outputs / 2, paths, 1};  // in the order of Axis
  return sizes[static_cast<int>(axis)];
}
constexpr int size_of(const Axes& axes, int inputs, int outputs, int paths) {
  int size = 1;
  for (int k = 0; k < axes.count; ++k) size *= axis_size(axes.axis[static_cast<unsigned>(k)], inputs, outputs, paths);
  return size;
}

int paths(const ModuleInfo& module, const LayerShape& shape);
int size_of(const ModuleInfo& module, const Axes& axes, const LayerShape& shape);
bool is_present(const ParameterInfo& parameter, const LayerShape& shape);
int parameter_count(const ModuleInfo& module, const LayerShape& shape);  // absent parameters do not count
int quantity_count(const ModuleInfo& module, std::span<const Quantity> quantities, const LayerShape& shape);

// The dimensions a parameter has in a model file; a single comparison has no index of its own.
std::vector<int> dimensions(const ModuleInfo& module, const ParameterInfo& parameter, const LayerShape& shape);

// ---- the list ------------------------------------------------------------------------------------------------------

std::vector<const ModuleInfo*> all_modules();

// By name, upper or lower case, NAC* or NAC•; the error lists the known names.
Result<const ModuleInfo*> find_module(std::string_view name);

// Checks inputs, outputs and options of a layer, and that the program has the module: a ModuleInfo alone is not one.
Status check_shape(const ModuleInfo& module, const LayerShape& shape);
LayerShape default_shape(const ModuleInfo& module, int inputs, int outputs);

}  // namespace nalm
