// What the program does whatever the command: an exception becomes a sentence.
#include <cstdlib>
#include <exception>
#include <new>

#include "cli/output.hpp"
#include "cli/run.hpp"

namespace {

// The exception in hand as a sentence. Nothing here asks for memory: there may be none.
int tell_exception() {
  using nalm::cli::draw;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    draw(stderr,
         "nalm: out of memory; use fewer rows, fewer threads or a smaller network, or allow more (ulimit -v).\n");
  } catch (const std::exception& e) {
    draw(stderr, "nalm: unexpected error: ");
    draw(stderr, e.what());
    draw(stderr, "\n");
  } catch (...) {
    draw(stderr, "nalm: unexpected error.\n");
  }
  return nalm::cli::bad_use;
}

}  // namespace

int main(int argc, char** argv) {
  // Where nothing may be thrown, memory can run out as well: destroying a value of JSON asks for some.
  std::set_terminate([] { std::_Exit(std::current_exception() ? tell_exception() : nalm::cli::bad_use); });
  try {
    nalm::cli::prepare_output();
    return nalm::cli::finish_output(nalm::cli::run(argc, argv));
  } catch (...) {
    return tell_exception();
  }
}
