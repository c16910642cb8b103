// Checkpoints: JSON, described in docs/design/009-library.md. Numbers are written so that they read back to the same
// bits; those that JSON does not have are the texts "nan", "inf" and "-inf".
#include <cmath>

#include <fmt/format.h>
#include "base/json.hpp"

#include "base/read_file.hpp"
#include "base/write_file.hpp"
#include "train/recipe_fields.hpp"
#include "train/trainer_state.hpp"

namespace nalm {

namespace {

using NodeKind = Wiring::Node::Kind;

constexpr int checkpoint_version = 1;
constexpr long most_iterations = 1'000'000'000'000'000;

// ---- writing -------------------------------------------------------------------------------------------------------

Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json numbers(const RunState::PerLayer& layers) {
  Json result = Json::array();
  for (const std::vector<double>& layer : layers) {
    Json list = Json::array();
    for (const double value : layer) list.push_back(number(value));
    result.push_back(std::move(list));
  }
  return result;
}

Json written(const Wiring& wiring) {
  Json nodes = Json::array();
  for (const Wiring::Node& node : wiring.nodes()) {
    Json ports = Json::array(), terms = Json::array();
    for (const auto& [from, value] : node.ports) ports.push_back({from, value});
    for (const auto& [factor, from] : node.terms) terms.push_back({factor, from});
    switch (node.kind) {
      case NodeKind::Input:
        nodes.push_back({{"input", node.width}});
        break;
      case NodeKind::Constant:
        nodes.push_back({{"constant", node.number}, {"width", node.width}});
        break;
      case NodeKind::Pick:
        nodes.push_back({{"pick", ports}});
        break;
      case NodeKind::Layer:
        nodes.push_back({{"layer", node.layer}, {"from", node.from}});
        break;
      case NodeKind::Mix:
        nodes.push_back({{"mix", terms}, {"by", ports}});
        break;
      case NodeKind::Sum:
        nodes.push_back({{"sum", terms}, {"lowest", number(node.number)}});
        break;
      case NodeKind::Product:
        nodes.push_back({{"product", terms}});
        break;
      case NodeKind::Tanh:
        nodes.push_back({{"tanh", node.from}});
        break;
    }
  }
  return nodes;
}

Json written(const RunState& state) {
  Json run;
  run["parameters"] = numbers(state.parameters);
  run["m"] = numbers(state.m);
  run["v"] = numbers(state.v);
  run["beta_powers"] = {number(state.beta1_power), number(state.beta2_power)};
  run["validation_error"] = number(state.validation_error);
  run["history"] = Json::array();
  for (const auto& [value, count] : state.history) run["history"].push_back({number(value), count});
  run["best"] = {{"error", number(state.best_error)}, {"parameters", numbers(state.best_parameters)}};
  run["noise"] = state.noise;
  run["stream"] = {{"kind", state.stream.kind}, {"words", state.stream.words}, {"spare", number(state.stream.spare)}};
  return run;
}

// ---- reading -------------------------------------------------------------------------------------------------------

// Reads what it is asked for, and keeps the first thing that was wrong.
class CheckpointReader {
 public:
  explicit CheckpointReader(bool in_float) : in_float_(in_float) {}

  std::string problem;

  void say(const std::string& where, const std::string& what) {
    if (problem.empty()) problem = fmt::format("{} {}.", where, what);
  }

  const Json& at(const Json& object, const char* key, const std::string& where) {
    static const Json none;
    if (object.is_object() && object.contains(key)) return object[key];
    say(where, fmt::format("lacks \"{}\"", key));
    return none;
  }

  long whole(const Json& value, long least, long most, const std::string& where) {
    // A text of digits may be too large for any integer; as a double it can be compared.
    if (value.is_number_integer() && value.get<double>() >= static_cast<double>(least) &&
        value.get<double>() <= static_cast<double>(most)) {
      return value.get<long>();
    }
    say(where, fmt::format("should be a whole number from {} to {}", least, most));
    return least;
  }

  double number(const Json& value, const std::string& where) {
    if (value.is_number()) return value.get<double>();
    if (value == "nan") return std::nan("");
    if (value == "inf" || value == "-inf") return value == "inf" ? HUGE_VAL : -HUGE_VAL;
    say(where, "should be a number, \"nan\", \"inf\" or \"-inf\"");
    return 0;
  }

  // As many as wanted, each of which the network can hold.
  std::vector<double> list(const Json& value, std::size_t wanted, const std::string& where) {
    std::vector<double> result;
    if (!value.is_array() || value.size() != wanted) {
      say(where, fmt::format("should be a list of {} numbers", wanted));
      return result;
    }
    for (const Json& entry : value) {
      const double x = number(entry, where);
      if (in_float_ && std::isfinite(x) && (std::fabs(x) > 3.4028234663852886e38 || static_cast<float>(x) != x))
        say(where, "has a number that is not one of 32 bits");
      result.push_back(x);
    }
    return result;
  }

  RunState::PerLayer layers(const Json& value, const RunState::PerLayer& like, const std::string& where) {
    RunState::PerLayer result;
    if (!value.is_array() || value.size() != like.size()) {
      say(where, fmt::format("should have a list for each of {} layers", like.size()));
      return like;
    }
    for (std::size_t k = 0; k < like.size(); ++k) result.push_back(list(value[k], like[k].size(), where));
    return result;
  }

  std::vector<std::uint64_t> words(const Json& value, std::uint64_t most, const std::string& where) {
    std::vector<std::uint64_t> result;
    if (!value.is_array() || value.size() > 4) say(where, "should be a list of at most 4 words");
    for (std::size_t k = 0; value.is_array() && k < value.size() && k < 4; ++k) {
      if (!value[k].is_number_unsigned() || value[k].get<std::uint64_t>() > most) {
        say(where, fmt::format("should hold whole numbers from 0 to {}", most));
        continue;
      }
      result.push_back(value[k].get<std::uint64_t>());
    }
    return result;
  }

  // `like` has arrays of the right sizes.
  RunState run(const Json& json, const RunState& like, const std::string& where) {
    RunState state;
    state.parameters = layers(at(json, "parameters", where), like.parameters, where + ", \"parameters\"");
    state.m = layers(at(json, "m", where), like.m, where + ", \"m\"");
    state.v = layers(at(json, "v", where), like.v, where + ", \"v\"");
    if (const Json& powers = at(json, "beta_powers", where); powers.is_array() && powers.size() == 2) {
      state.beta1_power = number(powers[0], where + ", \"beta_powers\"");
      state.beta2_power = number(powers[1], where + ", \"beta_powers\"");
    } else {
      say(where, "should have two \"beta_powers\"");
    }
    state.validation_error = number(at(json, "validation_error", where), where + ", \"validation_error\"");
    const Json& history = at(json, "history", where);
    if (!history.is_array()) say(where, "should have a list \"history\"");
    long length = 0;
    for (std::size_t k = 0; history.is_array() && k < history.size(); ++k) {
      const Json& entry = history[k];
      if (!entry.is_array() || entry.size() != 2) {
        say(where + ", \"history\"", "should hold pairs of an error and a count");
        break;
      }
      state.history.push_back(
          {number(entry[0], where + ", \"history\""), whole(entry[1], 1, most_iterations, where + ", \"history\"")});
      length += state.history.back().second;
      if (length > most_iterations) say(where + ", \"history\"", "counts more iterations than there can be");
      if (!problem.empty()) break;
    }
    const Json& best = at(json, "best", where);
    state.best_error = number(at(best, "error", where), where + ", \"best\"");
    if (const Json& parameters = at(best, "parameters", where); !parameters.is_array() || !parameters.empty())
      state.best_parameters = layers(parameters, like.parameters, where + ", \"best\"");
    state.noise = words(at(json, "noise", where), 0xffffffffu, where + ", \"noise\"");
    if (state.noise.size() != like.noise.size())
      say(where + ", \"noise\"", fmt::format("should have {} words", like.noise.size()));
    const Json& stream = at(json, "stream", where);
    const Json& kind = at(stream, "kind", where);
    if (kind.is_string()) state.stream.kind = kind.get<std::string>();
    state.stream.words = words(at(stream, "words", where), ~std::uint64_t{0}, where + ", \"stream\"");
    state.stream.spare = number(at(stream, "spare", where), where + ", \"stream\"");
    return state;
  }

  Wiring wiring(const Json& json, const Stack& stack) {
    constexpr int most = 1 << 20;
    const auto pairs = [&](const Json& list, auto make, const std::string& where) {
      std::vector<decltype(make(0.0, 0.0))> result;
      if (!list.is_array()) say(where, "should hold a list of pairs");
      for (std::size_t k = 0; list.is_array() && k < list.size(); ++k) {
        if (!list[k].is_array() || list[k].size() != 2 || !list[k][0].is_number() || !list[k][1].is_number()) {
          say(where, "should hold pairs of numbers");
          break;
        }
        result.push_back(make(list[k][0].get<double>(), list[k][1].get<double>()));
      }
      return result;
    };
    const auto index = [](double x) { return x >= 0 && x <= most ? static_cast<int>(x) : -1; };
    const auto port = [&](double a, double b) { return Wiring::Port{index(a), index(b)}; };
    const auto term = [&](double a, double b) { return Wiring::Term{a, index(b)}; };
    Wiring result(json.is_array() && !json.empty()
                      ? static_cast<int>(whole(at(json[0], "input", "node 0"), 1, most, "node 0"))
                      : 0);
    for (std::size_t k = 1; json.is_array() && k < json.size() && problem.empty(); ++k) {
      const Json& node = json[k];
      const std::string where = fmt::format("node {} of the wiring", k);
      if (node.contains("constant")) {
        result.constant(number(node["constant"], where),
                        static_cast<int>(whole(at(node, "width", where), 1, most, where)));
      } else if (node.contains("pick")) {
        result.pick(pairs(node["pick"], port, where));
      } else if (node.contains("layer")) {
        result.layer(stack, static_cast<int>(whole(node["layer"], 0, most, where)),
                     static_cast<int>(whole(at(node, "from", where), 0, most, where)));
      } else if (node.contains("mix")) {
        const std::vector<Wiring::Port> by = pairs(at(node, "by", where), port, where);
        const std::vector<Wiring::Term> of = pairs(node["mix"], term, where);
        if (by.size() != 1 || of.size() != 2) {
          say(where, "should mix two nodes by one value");
        } else {
          result.mix(by[0], of[0].node, of[1].node);
        }
      } else if (node.contains("sum")) {
        result.sum(pairs(node["sum"], term, where), number(at(node, "lowest", where), where));
      } else if (node.contains("product")) {
        const std::vector<Wiring::Term> of = pairs(node["product"], term, where);
        if (of.size() != 2) {
          say(where, "should multiply two nodes");
        } else {
          result.product(of[0].node, of[1].node);
        }
      } else if (node.contains("tanh")) {
        result.tanh(static_cast<int>(whole(node["tanh"], 0, most, where)));
      } else {
        say(where, "is none of constant, pick, layer, mix, sum, product and tanh");
      }
    }
    return result;
  }

 private:
  bool in_float_;
};

Result<Stack> read_layers(const Json& json, CheckpointReader& reader) {
  Stack stack;
  if (!json.is_array() || json.empty() || json.size() > 1000) return Error{"\"layers\" should be a list of layers."};
  for (std::size_t k = 0; k < json.size(); ++k) {
    const std::string where = fmt::format("layer {}", k + 1);
    const Json& text = reader.at(json[k], "layer", where);
    const long inputs = reader.whole(reader.at(json[k], "inputs", where), 1, 1 << 20, where);
    if (!text.is_string()) reader.say(where, "should be text such as \"NAU:2\"");
    if (!reader.problem.empty()) return Error{reader.problem};
    const Result<Stack> one = parse_stack(text.get<std::string>(), static_cast<int>(inputs));
    if (!one) return one.error();
    if (one->size() != 1) return Error{where + " should be one layer."};
    stack.push_back(one->front());
  }
  return stack;
}

}  // namespace

Result<std::string> Trainer::checkpoint() const {
  if (!state_->failure.empty())
    return Error{"a training that failed has no checkpoint: its runs may be at different iterations."};
  if (Status started = state_->check_started(); !started) return started.error();
  const Settings& settings = state_->settings;
  Json json;
  json["format"] = "nalm-checkpoint";
  json["version"] = checkpoint_version;
  json["precision"] = settings.precision == Precision::Float ? "float" : "double";
  json["layers"] = Json::array();
  for (const LayerSpec& spec : settings.stack)
    json["layers"].push_back({{"layer", print(Stack{spec})}, {"inputs", spec.shape.inputs}});
  if (settings.wiring) json["wiring"] = written(*settings.wiring);
  json["recipe"] = Json::parse(to_json(settings.recipe));
  json["iteration"] = iteration();
  json["runs"] = Json::array();
  for (int run = 0; run < settings.runs; ++run)
    json["runs"].push_back(written(state_->with(run, [](auto& bundle, int lane) { return bundle.state(lane); })));
  return json.dump() + "\n";
}

Status Trainer::save_checkpoint(const std::string& path) const {
  const Result<std::string> text = checkpoint();
  if (!text) return text.error();
  return write_file(path, *text);
}

Result<Trainer> Trainer::from_checkpoint(std::string_view text, std::string_view source_name, int threads) {
  const auto wrong = [&](const std::string& what) { return Error{fmt::format("{}: {}", source_name, what)}; };
  const Result<Json> parsed = parse_json(text, "file");
  if (!parsed) return wrong(parsed.error().message);
  const Json& json = *parsed;
  if (!json.is_object() || !json.contains("format") || json["format"] != "nalm-checkpoint")
    return wrong("this is not a checkpoint; it should begin with {\"format\":\"nalm-checkpoint\",\"version\":1,...}.");
  if (!json.contains("version") || json["version"] != checkpoint_version)
    return wrong(fmt::format("this program reads checkpoints of version {} only.", checkpoint_version));
  const bool in_float = json.contains("precision") && json["precision"] == "float";
  if (!in_float && !(json.contains("precision") && json["precision"] == "double"))
    return wrong("\"precision\" should be \"float\" or \"double\".");
  CheckpointReader reader(in_float);
  Result<Stack> stack = read_layers(reader.at(json, "layers", "the file"), reader);
  if (!stack) return wrong(stack.error().message);
  Settings settings;
  settings.stack = *std::move(stack);
  settings.precision = in_float ? Precision::Float : Precision::Double;
  settings.threads = threads;
  if (json.contains("wiring")) settings.wiring = reader.wiring(json["wiring"], settings.stack);
  const Result<Recipe> recipe = recipe_from_json(reader.at(json, "recipe", "the file").dump());
  if (!recipe) return wrong(recipe.error().message);
  settings.recipe = *recipe;
  const long iteration = reader.whole(reader.at(json, "iteration", "the file"), 0, most_iterations, "\"iteration\"");
  const Json& runs = reader.at(json, "runs", "the file");
  if (!runs.is_array() || runs.empty() || runs.size() > 1'000'000) reader.say("\"runs\"", "should be a list of runs");
  if (!reader.problem.empty()) return wrong(reader.problem);
  // Before there is memory for them: a file has to hold the numbers that it promises.
  for (const Json& run : runs) {
    const Json& parameters = reader.at(run, "parameters", "a run");
    for (std::size_t k = 0; k < settings.stack.size(); ++k) {
      const LayerSpec& spec = settings.stack[k];
      const std::size_t wanted = static_cast<std::size_t>(parameter_count(*spec.module, spec.shape));
      if (!parameters.is_array() || parameters.size() <= k || parameters[k].size() != wanted)
        return wrong(fmt::format("every run should have {} \"parameters\" for layer {}.", wanted, k + 1));
    }
  }
  settings.runs = static_cast<int>(runs.size());
  Result<Trainer> trainer = create(std::move(settings));
  if (!trainer) return wrong(trainer.error().message);
  State& state = *trainer->state_;
  for (int run = 0; run < state.settings.runs; ++run) {
    const std::string where = fmt::format("run {}", run);
    state.with(run, [&](auto& bundle, int lane) {
      const RunState read = reader.run(runs[static_cast<std::size_t>(run)], bundle.state(lane), where);
      std::shared_ptr<StartStream> stream = resumed(read.stream);
      if (!stream) reader.say(where + ", \"stream\"", "is not the state of a random stream");
      // Adam counts its steps once for all runs of a bundle.
      const RunState first = bundle.state(0);
      const auto differ = [](double a, double b) { return a != b && !(std::isnan(a) && std::isnan(b)); };
      if (lane > 0 && (differ(first.beta1_power, read.beta1_power) || differ(first.beta2_power, read.beta2_power)))
        reader.say(where,
                   "has other \"beta_powers\" than the run before; it needs the SIMD target it was trained with");
      if (!reader.problem.empty()) return;
      bundle.set_state(lane, read, std::move(stream));
      bundle.set_iteration(iteration);
    });
    if (!reader.problem.empty()) return wrong(reader.problem);
    state.started[static_cast<std::size_t>(run)] = true;
  }
  return trainer;
}

Result<Trainer> Trainer::load_checkpoint(const std::string& path, int threads) {
  const Result<std::string> text = read_file(path, "checkpoint");
  if (!text) return text.error();
  return from_checkpoint(*text, path, threads);
}

}  // namespace nalm
