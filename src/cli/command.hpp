// What the commands share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "nalm/module.hpp"

namespace CLI {
class App;
}

namespace nalm::cli {

// How wide a column for the names of these modules is.
std::size_t module_column(const std::vector<const ModuleInfo*>& modules);

// One command's part of the command line. CLI11 does the work, in command.cpp alone: it takes many seconds to compile.
// Variables must outlive the parsing; a default is what the variable holds.
class Command {
 public:
  // A word without a name: required, or any number of words.
  Command& word(const std::string& name, std::string& value, const std::string& help);
  Command& words(const std::string& name, std::vector<std::string>& values, const std::string& help);

  Command& optional_word(const std::string& name, std::string& value, const std::string& help);

  Command& flag(const std::string& name, bool& value, const std::string& help);
  Command& text(const std::string& name, std::string& value, const std::string& help);
  Command& choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                  const std::string& help);
  Command& number(const std::string& name, int& value, int lowest, int highest, const std::string& help);
  Command& number(const std::string& name, std::uint64_t& value, const std::string& help);
  Command& number(const std::string& name, double& value, const std::string& help);
  // Empty unless given.
  Command& number(const std::string& name, std::optional<long>& value, long lowest, long highest,
                  const std::string& help);
  Command& number(const std::string& name, std::optional<double>& value, const std::string& help);
  // Separated by commas.
  Command& numbers(const std::string& name, std::vector<int>& values, int lowest, int highest, const std::string& help);
  Command& numbers(const std::string& name, std::vector<double>& values, const std::string& help);

  Command& example(const std::string& lines);  // shown by --help
  void run(std::function<int()> action);       // gives the exit code

 private:
  friend class Program;
  Command(CLI::App* app, int* exit_code) : app_(app), exit_code_(exit_code) {}
  CLI::App* app_;
  int* exit_code_;
};

class Program {
 public:
  Program(const std::string& description, const std::string& footer, std::function<std::string()> version);
  ~Program();
  Command add(const std::string& name, const std::string& description);
  int run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  int exit_code_ = yes;
};

// One file each.
void add_list(Program& program);
void add_check(Program& program);
void add_eval(Program& program);
void add_explain(Program& program);
void add_bench(Program& program);
void add_table(Program& program);
void add_compare(Program& program);
void add_report(Program& program);
void add_figure(Program& program);
void add_export(Program& program);
void add_train(Program& program);
void add_fit(Program& program);
void add_predict(Program& program);
void add_calc(Program& program);

}  // namespace nalm::cli
