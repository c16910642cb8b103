// What the commands share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/manual.hpp"
#include "cli/output.hpp"
#include "nalm/module.hpp"

namespace CLI {
class App;
}

namespace nalm::cli {

// How wide a column for the names of these modules is.
std::size_t module_column(const std::vector<const ModuleInfo*>& modules);

// One command's part of the command line. CLI11 does the parsing, in command.cpp alone: it takes many seconds to
// compile. Variables must outlive the parsing; a default is what the variable holds. Names are "--long" or "-s,--long";
// one without dashes, as in "module,--module", can also be given by its place.
class Command {
 public:
  // Words without a name: required, optional, or any number of them.
  Command& word(const std::string& name, std::string& value, const std::string& help, Value kind = Value::File);
  Command& optional_word(const std::string& name, std::string& value, const std::string& help,
                         Value kind = Value::Folder);
  Command& words(const std::string& name, std::vector<std::string>& values, const std::string& help, Value kind);

  Command& flag(const std::string& name, bool& value, const std::string& help);
  Command& text(const std::string& name, std::string& value, const std::string& help, Value kind = Value::Text);
  Command& choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                  const std::string& help);
  // Whole numbers may be written as 1e4.
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
  Command(CLI::App* app, CommandManual* manual, int* exit_code) : app_(app), manual_(manual), exit_code_(exit_code) {}
  Argument& note(const std::string& name, const std::string& help, Value kind, const std::string& standard = {});
  CLI::App* app_;
  CommandManual* manual_;
  int* exit_code_;
};

class Program {
 public:
  Program(const std::string& description, const std::string& footer, std::function<std::string()> version);
  ~Program();
  Command add(const std::string& name, const std::string& description);
  int run(int argc, char** argv);
  const Manual& manual() const { return manual_; }
  std::string version() const { return version_(); }

 private:
  int help(const std::string& command) const;
  int refuse(const std::string& message,
             const CommandManual* command = nullptr) const;  // bad use, and where the help is
  int parse(std::vector<std::string> arguments);

  std::unique_ptr<CLI::App> app_;
  Manual manual_;
  std::function<std::string()> version_;
  int exit_code_ = yes;
};

// One file each.
void add_list(Program& program);
void add_check(Program& program);
void add_eval(Program& program);
void add_explain(Program& program);
void add_bench(Program& program);
void add_merge(Program& program);
void add_table(Program& program);
void add_compare(Program& program);
void add_report(Program& program);
void add_figure(Program& program);
void add_export(Program& program);
void add_train(Program& program);
void add_fit(Program& program);
void add_predict(Program& program);
void add_calc(Program& program);
void add_completion(Program& program);
void add_man(Program& program);

}  // namespace nalm::cli
