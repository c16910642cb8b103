// nalm calc: a calculator whose operators are trained modules.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/command.hpp"
#include "tasks/calculator.hpp"

namespace nalm::cli {
namespace {

struct CalcCommand {
  std::string text, modules;
  std::uint64_t seed = 0;
  bool quiet = false, raw = false;
};

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The part of the text around a mistake, and a caret under it. Columns are counted in characters of UTF-8.
int fail_at(std::string_view text, const CalcMistake& mistake) {
  constexpr std::size_t around = 60;
  std::size_t first = mistake.position > around ? mistake.position - around : 0;
  std::size_t last = std::min(text.size(), mistake.position + around);
  while (first > 0 && continues_character(text[first])) --first;
  while (last < text.size() && continues_character(text[last])) ++last;
  const auto characters = [&](std::size_t from, std::size_t to) {
    const std::string_view part = text.substr(from, to - from);
    return part.size() - static_cast<std::size_t>(std::count_if(part.begin(), part.end(), continues_character));
  };
  std::string shown(text.substr(first, last - first));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  const std::string_view before = first > 0 ? "..." : "", after = last < text.size() ? "..." : "";
  tell("nalm: column {}: {}\n  {}{}{}\n  {:>{}}\n", characters(0, mistake.position) + 1, mistake.sentence, before,
       shown, after, "^", before.size() + characters(first, mistake.position) + 1);
  return bad_use;
}

// "+=NAU,*=NMU": operators and the modules that should learn them.
Status choose_modules(std::string_view choices, Calculator& calculator) {
  constexpr CalcOperator choosable[] = {CalcOperator::Add, CalcOperator::Subtract, CalcOperator::Multiply,
                                        CalcOperator::Divide, CalcOperator::Root};
  for (const CalcOperator op : choosable) calculator.set(op, *module_training(op, standard_module(op)));
  for (std::string_view rest = choices; !rest.empty();) {
    const std::string_view choice = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), choice.size() + 1));
    const std::size_t equals = choice.find('=');
    const auto op = std::find_if(std::begin(choosable), std::end(choosable), [&](CalcOperator o) {
      return equals != std::string_view::npos && name_of(o) == choice.substr(0, equals);
    });
    if (op == std::end(choosable)) {
      return Error{
          fmt::format("--modules: \"{}\" is not an operator and its module, such as *=NMU; the operators are "
                      "+, -, *, / and sqrt, with commas between the choices.",
                      choice)};
    }
    Result<OperatorTraining> training = module_training(*op, choice.substr(equals + 1));
    if (!training) return Error{fmt::format("--modules: {}", training.error().message)};
    calculator.set(*op, std::move(*training));
  }
  return Done{};
}

std::string print(const CalcStep& step) {
  const std::string_view name = name_of(step.by->op);
  if (step.operands.size() == 1) return fmt::format("{}({})", name, step.operands[0]);
  return fmt::format("{} {} {}", step.operands[0], name, step.operands[1]);
}

void print_steps(const Calculation& result) {
  std::vector<std::string> texts;
  std::size_t width = 9, module_width = 6;
  for (const CalcStep& step : result.steps) {
    texts.push_back(print(step));
    width = std::max(width, texts.back().size());
    module_width = std::max(module_width, step.by->modules().size());
  }
  put("{:>4}  {:<{}}  {:<{}}  {:<22}  {:<22}  {}\n", "step", "module", module_width, "operation", width, "prediction",
      "exact", "error");
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const CalcStep& step = result.steps[k];
    put("{:>4}  {:<{}}  {:<{}}  {:<22}  {:<22}  {:.2g}\n", k + 1, step.by->modules(), module_width, texts[k], width,
        step.prediction, step.exact, std::fabs(step.prediction - step.exact));
  }
}

void print_learnt(const Calculator& calculator) {
  for (const CalcOperator op : all_calc_operators) {
    const LearntOperator* learnt = calculator.learnt(op);
    if (!learnt) continue;
    const std::string how = learnt->spelled
                                ? fmt::format("its weights are whole numbers and spell {}", print(*learnt->spelled))
                                : fmt::format("relative error {:.2g} on validation data", learnt->error);
    put("{:<5} {}, after {} iterations: {}{}\n", name_of(op), learnt->modules(), learnt->iterations, how,
        learnt->magnitudes ? "; it sees numbers without their signs, which the calculator handles" : "");
  }
}

int calc(const CalcCommand& o) {
  if (o.seed > 0xffffffffu) return fail({"--seed must be below 4294967296."});
  const auto parsed = parse_calculation(o.text);
  if (const auto* mistake = std::get_if<CalcMistake>(&parsed)) return fail_at(o.text, *mistake);
  Calculator calculator(static_cast<std::uint32_t>(o.seed), o.raw);
  if (Status chosen = choose_modules(o.modules, calculator); !chosen) return fail(chosen.error());
  const auto outcome = calculator.run(std::get<std::vector<CalcToken>>(parsed));
  if (const auto* mistake = std::get_if<CalcMistake>(&outcome)) return fail_at(o.text, *mistake);
  const Calculation& result = std::get<Calculation>(outcome);
  if (o.quiet) {
    put("{}\n", result.value);
    return result.is_off() ? no : yes;
  }
  if (!result.steps.empty()) {
    print_learnt(calculator);
    put("\n");
    print_steps(result);
    put("\n");
  }
  put("result  {}\nexact   {}\nerror   {:.2g} ({:.2g} relative)\n", result.value, result.exact, result.error(),
      result.relative_error());
  if (!result.is_off()) return yes;
  put("The result is off by more than 1e-6 relative.\n");
  return no;
}

}  // namespace

void add_calc(Program& program) {
  static CalcCommand o;
  program.add("calc", "A calculator whose operators are modules, trained on the spot")
      .word("calculation", o.text,
            "Numbers, + - * / ^, parentheses, sqrt(...). Powers are whole numbers or halves of them. Write -- in front "
            "of a calculation that starts with -",
            Value::Text)
      .text("--modules", o.modules,
            "Modules for operators, such as \"*=NALU,sqrt=RealNPU\"; otherwise + - NAU, * NMU, / NMRU, sqrt NRU-power. "
            "Whole powers are products")
      .number("--seed", o.seed, "Seed of the trainings")
      .flag("--raw", o.raw,
            "Ask the modules themselves, even where their weights spell a formula without rounding errors")
      .flag("--quiet", o.quiet, "Print the result and nothing else")
      .example(
          "  nalm calc \"3 + 4 * (2 - 1)^2 / 7\"\n"
          "  nalm calc \"2 * sqrt(9)\" --modules \"*=NALU,sqrt=RealNPU\"\n"
          "Exit code 0 if the result is right, 1 if it is off by more than 1e-6 relative.")
      .run([] { return calc(o); });
}

}  // namespace nalm::cli
