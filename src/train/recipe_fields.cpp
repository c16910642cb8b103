#include "train/recipe_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include "base/json.hpp"

#include "nalm/train.hpp"

namespace nalm {
namespace {

// ---- what a field is -----------------------------------------------------------------------------------------------

// The numbers that make sense.
struct Limits {
  double least = -std::numeric_limits<double>::max(), most = std::numeric_limits<double>::max();
  bool above = false, below = false;  // least, most excluded
  long multiple_of = 1;

  bool allow(double value) const {
    return (above ? value > least : value >= least) && (below ? value < most : value <= most) &&
           (multiple_of == 1 || std::fmod(value, static_cast<double>(multiple_of)) == 0);
  }
  std::string in_words(bool whole) const {
    std::string words = whole ? "a whole number " : "";
    if (multiple_of > 1) words = fmt::format("a multiple of {} ", multiple_of);
    words += fmt::format("{} {}", above ? "above" : "from", least);
    if (most < 1e15) words += fmt::format(" {} {}", below ? "to below" : "to", most);
    return words;
  }
};
constexpr Limits any{};
constexpr Limits positive{0, 1e15, true};
constexpr Limits not_negative{0, 1e15};
constexpr Limits share{0, 1, false, true};
constexpr Limits count{1, 1e6};
constexpr Limits iteration_count{1, 1e15};

template <class Part, class Value>
struct Field {
  std::string_view name;  // empty: the fields of the value stand beside this part's own
  Value Part::*member;
  std::string_view meaning;
  Limits limits;
  bool (*applies)(const Part&);  // nullptr: always
  bool quiet;                    // left out while it has its default value
};
template <class Part>
using Applies = bool (*)(const Part&);

template <class Part, class Value>
constexpr Field<Part, Value> field(std::string_view name, Value Part::*member, std::string_view meaning = {},
                                   Limits limits = any, std::type_identity_t<Applies<Part>> applies = nullptr) {
  return {name, member, meaning, limits, applies, false};
}
template <class Part, class Value>
constexpr Field<Part, Value> quiet(Field<Part, Value> f) {
  f.quiet = true;
  return f;
}

// ---- the table -----------------------------------------------------------------------------------------------------

struct KindName {
  std::string_view name, meaning;
};
constexpr std::array<KindName, 2> names_of(Optimiser::Kind) { return {{{"adam", ""}, {"rmsprop", ""}}}; }
constexpr std::array<KindName, 5> names_of(Regulariser::Kind) {
  return {{{"sparsity", "strength * mean min(|w|, |1 - |w||), rising from start to end"},
           {"saturate", "strength * mean max(20 - |w|, 0) after start, while the validation error is below 1"},
           {"l1", "strength * sum |w|, times growth every so many iterations, up to limit"},
           {"unit", "strength * mean |1 - |w||, rising from start to end"},
           {"grow", "-strength * mean w^2, rising from start to end"}}};
}
constexpr std::array<KindName, 6> names_of(Loss::Kind) {
  return {{{"squared", "the squared error"},
           {"huber", "the squared error, and a straight line beyond limit"},
           {"relative", "the squared relative error"},
           {"log", "the squared difference of the logarithms of the magnitudes"},
           {"absolute", "the absolute error"},
           {"own", "the module's own; the squared error if it has none"}}};
}

constexpr auto fields_of(const Adam&) {
  return std::tuple(field("learning_rate", &Adam::learning_rate, "", {0, 1e6, true, true}),
                    field("beta1", &Adam::beta1, "", share), field("beta2", &Adam::beta2, "", share),
                    field("epsilon", &Adam::epsilon, "", not_negative));
}
constexpr auto fields_of(const RmsProp&) {
  return std::tuple(field("learning_rate", &RmsProp::learning_rate, "", {0, 1e6, true, true}),
                    field("decay", &RmsProp::decay, "", share), field("epsilon", &RmsProp::epsilon, "", not_negative),
                    field("first_accumulator", &RmsProp::first_accumulator, "", not_negative),
                    field("epsilon_inside_root", &RmsProp::epsilon_inside_root));
}
constexpr auto fields_of(const Optimiser&) {
  return std::tuple(
      field("kind", &Optimiser::kind),
      field("", &Optimiser::adam, "", any, [](const Optimiser& o) { return o.kind == Optimiser::Kind::Adam; }),
      field("", &Optimiser::rms_prop, "", any, [](const Optimiser& o) { return o.kind == Optimiser::Kind::RmsProp; }));
}
constexpr auto fields_of(const Regulariser&) {
  constexpr Applies<Regulariser> l1 = [](const Regulariser& r) { return r.kind == Regulariser::Kind::L1; };
  constexpr Applies<Regulariser> not_l1 = [](const Regulariser& r) { return r.kind != Regulariser::Kind::L1; };
  constexpr Applies<Regulariser> ramp = [](const Regulariser& r) { return r.has_ramp(); };
  return std::tuple(field("kind", &Regulariser::kind), quiet(field("parameter", &Regulariser::parameter)),
                    field("strength", &Regulariser::strength, "", positive),
                    field("start", &Regulariser::start, "", not_negative, not_l1),
                    field("end", &Regulariser::end, "", not_negative, ramp),
                    field("growth", &Regulariser::growth, "", positive, l1),
                    field("every", &Regulariser::every, "", not_negative, l1),
                    field("limit", &Regulariser::limit, "", not_negative, l1));
}
constexpr auto fields_of(const Loss&) {
  return std::tuple(field("kind", &Loss::kind), field("limit", &Loss::limit, "", positive,
                                                      [](const Loss& l) { return l.kind == Loss::Kind::Huber; }));
}
constexpr auto fields_of(const InputNoise&) {
  return std::tuple(field("lo", &InputNoise::lo), quiet(field("batch_adaptive", &InputNoise::batch_adaptive)),
                    field("hi", &InputNoise::hi, "", any, [](const InputNoise& n) { return !n.batch_adaptive; }));
}
constexpr auto fields_of(const Restarts&) {
  // Validation errors are renewed every 1000 iterations.
  return std::tuple(field("count", &Restarts::count, "", count),
                    field("every", &Restarts::every, "", {1000, 1e15, false, false, 1000}));
}
constexpr auto fields_of(const Reinitialise&) {
  return std::tuple(field("every", &Reinitialise::every, "", iteration_count),
                    field("more_than", &Reinitialise::more_than, "", not_negative),
                    field("error_above", &Reinitialise::error_above, "", not_negative),
                    field("range", &Reinitialise::range, "", positive));
}
constexpr auto fields_of(const CoolDown&) {
  return std::tuple(field("start", &CoolDown::start, "", not_negative), field("end", &CoolDown::end, "", not_negative));
}
constexpr auto fields_of(const Decay&) {
  return std::tuple(field("factor", &Decay::factor, "", positive), field("every", &Decay::every, "", iteration_count));
}
constexpr auto fields_of(const Phases&) {
  return std::tuple(field("parameter", &Phases::parameter), field("block", &Phases::block, "", iteration_count),
                    field("first", &Phases::first, "", not_negative));
}
constexpr auto fields_of(const LayerRecipe&) {
  return std::tuple(field("regularisers", &LayerRecipe::regularisers, "added to the loss"),
                    quiet(field("starts", &LayerRecipe::starts, "instead of the module's own start values")),
                    quiet(field("clamp", &LayerRecipe::clamp, "false: weights may leave the module's bounds")));
}
constexpr auto fields_of(const TrainingRecipe&) {
  using R = TrainingRecipe;
  return std::tuple(
      field("optimiser", &R::optimiser), field("iterations", &R::iterations, "", not_negative),
      field("batch", &R::batch, "", count), quiet(field("loss", &R::loss)),
      field("clip_value", &R::clip_value, "every gradient scalar is clipped to this magnitude", positive),
      field("clip_norm", &R::clip_norm, "the gradient is scaled down to this Euclidean norm", positive),
      field("noise", &R::noise, "the factors of noise; adaptive: up to lo + 1 / standard deviation of the batch"),
      field("restarts", &R::restarts, "so many tries, then on from the one with the smallest validation error"),
      field("reinitialise", &R::reinitialise, "fresh start values when the error stays bad"),
      field("cool_down", &R::cool_down, "the learning rate falls to 0 from start to end"),
      field("decay", &R::decay, "the learning rate is multiplied by factor every so many iterations"),
      field("phases", &R::phases,
            "of a block of iterations the first leave the parameter alone, the others change it"));
}

// What no single field shows: the field, and what is wrong with it.
using Wrong = std::pair<std::string, std::string>;
Wrong wrong_in(const InputNoise& noise) {
  return noise.batch_adaptive || noise.lo <= noise.hi ? Wrong{} : Wrong{"lo", "must not be above noise.hi"};
}

// ---- visiting ------------------------------------------------------------------------------------------------------

template <class T>
concept IsPart = std::is_same_v<T, Recipe> || requires(const T& part) {
  fields_of(part);
};
template <class T>
concept IsKind = std::is_enum_v<T>;
template <class T>
concept IsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

// f(field, value) for every field that applies; f may change what applies to those that follow.
template <class Part, class F>
void for_each_field(Part& part, F f) {
  if constexpr (std::is_same_v<std::remove_const_t<Part>, Recipe>) {
    for_each_field(part.training, f);
    if (part.layers.size() == 1) {
      for_each_field(part.layers[0], f);
    } else {
      f(field("layers", &Recipe::layers), part.layers);
    }
  } else {
    const auto visit = [&](const auto& entry) {
      if (!entry.applies || entry.applies(part)) f(entry, part.*entry.member);
    };
    std::apply([&](const auto&... entry) { (visit(entry), ...); }, fields_of(part));
  }
}

// ---- to JSON -------------------------------------------------------------------------------------------------------

template <IsPart T>
Json written(const T& part);
template <class T>
Json written(const T& value) {
  return value;
}
template <IsKind T>
Json written(const T& kind) {
  return names_of(kind)[static_cast<std::size_t>(kind)].name;
}
Json written(const std::vector<StartChange>& starts) {
  Json value;
  for (const StartChange& change : starts) {
    Json& start = value[change.parameter];
    if (change.kind == StartChange::Kind::Uniform) start = {change.lo, change.hi};
    if (change.kind == StartChange::Kind::Normal) start = {{"mean", change.lo}, {"deviation", change.hi}};
    if (change.kind == StartChange::Kind::Scaled) start = {{"factor", change.lo}};
  }
  return value;
}
template <class T>
Json written(const std::optional<T>& value) {
  return value ? written(*value) : Json();
}
template <class T>
Json written(const std::vector<T>& list) {
  Json value = Json::array();
  for (const T& entry : list) value.push_back(written(entry));
  return value;
}
template <class P, class V>
bool is_left_out(const Field<P, V>& f, const Json& text) {
  return text.is_null() || (f.quiet && text == written(P{}.*f.member));
}
template <IsPart T>
Json written(const T& part) {
  Json value = Json::object();
  for_each_field(part, [&](const auto& f, const auto& member) {
    const Json text = written(member);
    if (f.name.empty()) {
      value.update(text);
    } else if (!is_left_out(f, text)) {
      value[f.name] = text;
    }
  });
  return value;
}

// ---- from JSON -----------------------------------------------------------------------------------------------------

class RecipeReader {
 public:
  // whole: everything must be said that would be written.
  explicit RecipeReader(bool whole) : whole_(whole) {}

  std::string problem;  // the first one

  template <IsPart T>
  void read(const Json& value, T& part, const std::string& path = {}, const Limits& = any) {
    if (!value.is_object()) return say(path.empty() ? "the recipe" : path, "must be an object {...}");
    std::set<std::string, std::less<>> known;
    read_fields(value, part, path, known);
    for (const auto& [name, unused] : value.items())
      if (!known.contains(name)) say(fmt::format("\"{}\"", below(path, name)), "is not known there");
    if constexpr (std::is_same_v<T, Recipe>) {
      if (value.contains("layers") && part.layers.size() < 2)
        say("layers", "must be a list of two or more; the fields of a single one stand beside the others");
    }
    if constexpr (requires { wrong_in(part); }) {
      if (const Wrong wrong = wrong_in(part); !wrong.first.empty()) say(below(path, wrong.first), wrong.second);
    }
  }

 private:
  static std::string below(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
  }
  void say(const std::string& where, const std::string& what) {
    if (problem.empty()) problem = where + " " + what;
  }

  template <IsPart T>
  void read_fields(const Json& value, T& part, const std::string& path, std::set<std::string, std::less<>>& known) {
    if constexpr (std::is_same_v<T, Recipe>) {
      if (value.contains("layers")) part.layers.resize(2);  // for the list to apply
    }
    for_each_field(part, [&]<class P, class V>(const Field<P, V>& f, V& member) {
      if constexpr (IsPart<V>) {
        if (f.name.empty()) return read_fields(value, member, path, known);
      }
      known.emplace(f.name);
      const auto found = value.find(f.name);
      if (found == value.end()) {
        if (whole_ && !written(member).is_null() && !f.quiet) say(below(path, f.name), "is missing");
        if constexpr (IsNumber<V>) check(member, below(path, f.name), f.limits);
      } else if (found->is_null() && (f.quiet || written(P{}.*f.member).is_null())) {
        member = P{}.*f.member;
      } else {
        read(*found, member, below(path, f.name), f.limits);
      }
    });
  }

  template <class Number>
  bool check(Number value, const std::string& path, Limits limits) {
    // Nobody asks for nothing in a change, but a whole recipe may learn nothing: --learning-rate 0.
    if (whole_ && limits.least == 0) limits.above = false;
    if (limits.allow(static_cast<double>(value))) return true;
    say(path, "must be " + limits.in_words(std::is_integral_v<Number>));
    return false;
  }
  template <IsNumber T>
  void read(const Json& value, T& number, const std::string& path, const Limits& limits) {
    if (!value.is_number()) return say(path, "must be " + limits.in_words(std::is_integral_v<T>));
    const double given = value.get<double>();
    if (std::is_integral_v<T> && given != std::floor(given)) return say(path, "must be " + limits.in_words(true));
    if (std::is_integral_v<T> ? check(static_cast<long>(std::clamp(given, -1e18, 1e18)), path, limits)
                              : check(given, path, limits))
      number = static_cast<T>(given);
  }
  void read(const Json& value, bool& out, const std::string& path, const Limits&) {
    if (!value.is_boolean()) return say(path, "must be true or false");
    out = value;
  }
  void read(const Json& value, std::string& out, const std::string& path, const Limits&) {
    if (!value.is_string()) return say(path, "must be text");
    out = value;
  }
  template <IsKind T>
  void read(const Json& value, T& kind, const std::string& path, const Limits&) {
    const auto names = names_of(kind);
    std::vector<std::string_view> known;
    for (std::size_t k = 0; k < names.size(); ++k) {
      known.push_back(names[k].name);
      if (value == names[k].name) kind = static_cast<T>(k);
    }
    if (value != names[static_cast<std::size_t>(kind)].name)
      say(path, fmt::format("must be one of {}, not {}", fmt::join(known, ", "), value.dump()));
  }
  template <class T>
  void read(const Json& value, std::optional<T>& out, const std::string& path, const Limits& limits) {
    if (!out) out.emplace();
    read(value, *out, path, limits);
  }
  template <class T>
  void read(const Json& value, std::vector<T>& list, const std::string& path, const Limits& limits) {
    if (!value.is_array()) return say(path, "must be a list [...]");
    list.assign(value.size(), {});
    for (std::size_t k = 0; k < list.size(); ++k) read(value[k], list[k], below(path, std::to_string(k)), limits);
  }
  void read(const Json& value, std::vector<StartChange>& starts, const std::string& path, const Limits&) {
    if (!value.is_object()) return say(path, "must be an object {...}");
    using StartKind = StartChange::Kind;
    for (const auto& [parameter, start] : value.items()) {
      std::erase_if(starts, [&p = parameter](const StartChange& change) { return change.parameter == p; });
      if (start.is_null()) continue;
      const auto number = [&s = start](const auto& key) {
        return s[key].is_number() ? s[key].template get<double>() : NAN;
      };
      StartChange change{parameter, NAN, 0};
      if (start.is_array() && start.size() == 2) {
        change = {parameter, number(0), number(1)};
      } else if (start.is_object() && start.size() == 1 && start.contains("factor")) {
        change = {parameter, number("factor"), 0, StartKind::Scaled};
      } else if (start.is_object() && start.size() == 2 && start.contains("mean") && start.contains("deviation")) {
        change = {parameter, number("mean"), number("deviation"), StartKind::Normal};
      }
      const bool sensible = std::isfinite(change.lo + change.hi) &&
                            (change.kind == StartKind::Uniform ? change.lo <= change.hi : change.hi >= 0);
      if (!sensible)
        say(below(path, parameter), R"(must be [low, high], {"mean": 0, "deviation": 1} or {"factor": 0.5})");
      starts.push_back(std::move(change));
    }
  }

  bool whole_;
};

// ---- in words ------------------------------------------------------------------------------------------------------

std::string in_words(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_object()) return value.dump();
  std::string words = value.value("kind", "");
  for (const auto& [name, entry] : value.items())
    if (name != "kind") words += fmt::format("{}{} {}", words.empty() ? "" : ", ", name, in_words(entry));
  return words;
}
std::string_view meaning_of(const auto& value) {
  if constexpr (requires { value.kind; }) return names_of(value.kind)[static_cast<std::size_t>(value.kind)].meaning;
  return "";
}

}  // namespace

std::string to_json(const Recipe& recipe) { return Json(written(recipe)).dump(); }

Result<Recipe> recipe_from_json(std::string_view text) {
  const auto wrong = [](std::string_view why) {
    return Error{fmt::format("the stored recipe cannot be read: {}", why)};
  };
  const Result<Json> value = parse_json(text, "text");
  if (!value) return wrong(value.error().message);
  Recipe recipe;
  RecipeReader reader(true);
  reader.read(*value, recipe);
  if (!reader.problem.empty()) return wrong(reader.problem + ".");
  return recipe;
}

Status check_recipe(const Recipe& recipe, const Stack& stack) {
  const TrainingRecipe& training = recipe.training;
  if (training.batch < 1) return Error{fmt::format("a batch needs at least 1 row, not {}.", training.batch)};
  if (recipe.layers.size() != stack.size()) {
    return Error{
        fmt::format("the recipe is for {} layers, but the stack has {}; default_training() makes one that fits.",
                    recipe.layers.size(), stack.size())};
  }
  // What is written is what can be read: numbers within their limits, none of them NaN.
  Recipe copy;
  RecipeReader reader(true);
  reader.read(Json(written(recipe)), copy);
  if (!reader.problem.empty()) return Error{fmt::format("the recipe cannot be used: {}.", reader.problem)};
  const auto has = [](const LayerSpec& spec, std::string_view name) {
    return std::ranges::any_of(spec.module->parameters, [&](const ParameterInfo& p) { return p.name == name; });
  };
  for (std::size_t k = 0; k < stack.size(); ++k) {
    std::vector<std::string_view> names;
    for (const Regulariser& r : recipe.layers[k].regularisers)
      if (!r.parameter.empty()) names.push_back(r.parameter);
    for (const StartChange& change : recipe.layers[k].starts) names.push_back(change.parameter);
    for (const std::string_view name : names) {
      if (!has(stack[k], name)) {
        return Error{fmt::format("the recipe names a parameter \"{}\" in layer {}, but {} has none of that name.", name,
                                 k + 1, stack[k].module->name)};
      }
    }
  }
  if (training.phases &&
      std::ranges::none_of(stack, [&](const LayerSpec& spec) { return has(spec, training.phases->parameter); })) {
    return Error{
        fmt::format("the recipe's phases name a parameter \"{}\", which no layer has.", training.phases->parameter)};
  }
  return Done{};
}

Result<Recipe> change_recipe(const Recipe& recipe, std::string_view changes) {
  const auto wrong = [&](std::string_view why) {
    if (why.ends_with('.')) why.remove_suffix(1);  // a sentence within this one
    return Error{
        fmt::format("the changes to the recipe cannot be used: {}; they look like "
                    "{{\"clip_norm\": 1, \"optimiser\": {{\"learning_rate\": 0.01}}}}, and this is a whole recipe: {}.",
                    why, to_json(recipe))};
  };
  const Result<Json> patch = parse_json(changes, "text");
  if (!patch) return wrong(patch.error().message);
  Recipe result = recipe;
  RecipeReader reader(false);
  reader.read(*patch, result);
  if (reader.problem.empty() && result.layers.size() != recipe.layers.size())
    return wrong(fmt::format("there are {} layers", recipe.layers.size()));
  if (!reader.problem.empty()) return wrong(reader.problem);
  return result;
}

std::vector<std::string> recipe_in_words(const Recipe& recipe) {
  std::vector<std::string> lines;
  for_each_field(recipe, [&]<class P, class V>(const Field<P, V>& f, const V& member) {
    const Json text = written(member);
    const auto add = [&](const Json& value, std::string_view meaning) {
      lines.push_back(fmt::format("{}: {}", f.name, in_words(value)));
      if (!meaning.empty()) lines.back() += fmt::format(" ({})", meaning);
    };
    if constexpr (std::is_same_v<V, std::vector<Regulariser>>) {
      for (std::size_t k = 0; k < member.size(); ++k) add(text[k], meaning_of(member[k]));
    } else if (!is_left_out(f, text)) {
      add(text, f.meaning.empty() ? meaning_of(member) : f.meaning);
    }
  });
  return lines;
}

}  // namespace nalm
