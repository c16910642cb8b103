// Any words on the command line, one per line of the input: the program ends by itself, with one of its exit codes.
//
// Every input gets a process of its own, because a command line is read once in a process. The counters of reached
// branches are in memory that both share, or the fuzzer would learn nothing. Whatever trains is told to stop before it
// begins: what is looked at is the way there.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/run.hpp"
#include "small_store.hpp"

// Of the sanitizers; without them the same inputs can be tried by a program of one's own.
extern "C" {
[[gnu::weak]] extern std::uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];
[[gnu::weak]] void __sanitizer_set_report_fd(void*);
}

namespace {

using namespace nalm;
using fuzz::require;

constexpr std::string_view table =
    "a,b,y\n1,2,2\n2,5,10\n3,3,9\n4,1,4\n5,7,35\n6,2,12\n7,4,28\n8,3,24\n1,9,9\n3,8,24\n";
constexpr std::string_view model =
    R"({"format": "nalm-model", "version": 1, "layers": [{"module": "NMU", "inputs": 2, "outputs": 1, "parameters": {"W": [[1], [1]]}}]})";

// The pages that hold nothing but counters.
void share_counters() {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(__start___sancov_cntrs) + page - 1) / page * page;
  const auto last = reinterpret_cast<std::uintptr_t>(__stop___sancov_cntrs) / page * page;
  if (last <= first) return;
  void* const at = reinterpret_cast<void*>(first);
  const std::vector<char> now(static_cast<char*>(at), static_cast<char*>(at) + (last - first));
  require(mmap(at, last - first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
  std::memcpy(at, now.data(), now.size());
}

// The folder as every command line finds it: one below the temporary one, for those that go up.
void lay_out(const std::filesystem::path& folder) {
  static const std::string store = fuzz::small_store();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "r");
  fuzz::write_bytes(folder / "ok.csv", table);
  fuzz::write_bytes(folder / "m.json", model);
  fuzz::write_bytes(folder / "r" / std::string(StoreFile::file_name), store);
}

[[noreturn]] void run(const std::filesystem::path& folder, std::vector<std::string> words) {
  // What a sanitizer has to say is still heard.
  const int reports = dup(2), nowhere = open("/dev/null", O_RDWR);
  if (__sanitizer_set_report_fd)
    __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(reports)));
  for (const int file : {0, 1, 2}) dup2(nowhere, file);
  if (chdir(folder.c_str()) != 0) _exit(99);
  for (const int signal : {SIGINT, SIGTERM, SIGALRM}) std::signal(signal, SIG_DFL);
  alarm(words.front() == "check" || words.front() == "calc" ? 2 : 50);
  cli::Interruptible::flag() = true;
  words.insert(words.begin(), "nalm");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  cli::prepare_output();
  _exit(cli::finish_output(cli::run(static_cast<int>(words.size()), arguments.data())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool shared = (share_counters(), true);
  static const test::TemporaryFolder place;
  const std::filesystem::path folder = place.path() / "below";
  require(shared);
  std::vector<std::string> words;
  for (const std::string_view line : split({reinterpret_cast<const char*>(data), size}, '\n')) {
    // Nothing outside of the folder is touched. A word ends at its zero, as in a real command line.
    if (line.find('/') != line.npos) return 0;
    words.emplace_back(line.substr(0, line.find('\0')));
  }
  lay_out(folder);
  const pid_t child = fork();
  if (child == 0) run(folder, std::move(words));
  int status = 0;
  pid_t ended = -1;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);  // libFuzzer's clock
  require(child > 0 && ended == child);
  // These two do as much work as they are asked for, and end at the first signal.
  const std::string_view command = words.front();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM && (command == "check" || command == "calc")) return 0;
  require(WIFEXITED(status));
  const int code = WEXITSTATUS(status);
  require(code == cli::yes || code == cli::no || code == cli::bad_use || code == 128 + SIGINT);
  return 0;
}
