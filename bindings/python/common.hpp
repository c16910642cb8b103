// What all parts of the extension share: errors, arrays, and long work that Ctrl-C ends.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "nalm/result.hpp"

namespace nalm::python {

namespace nb = nanobind;

// nalm.Error in Python, a ValueError: the library's sentence.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T>
T take(Result<T> result) {
  if (!result) throw Failure(result.error().message);
  return std::move(*result);
}

// Arrays are converted in Python, where the messages are made; here they have to be as they should.
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
inline std::span<const double> numbers(const Matrix& m) { return {m.data(), m.size()}; }

// A NumPy array that owns what was in the vector.
template <class T>
nb::object to_numpy(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner));
}

// work(stop token) in a thread of its own, without the GIL. Every 50 ms the calling thread looks for signals and calls
// `look`. What a signal or `look` raises stops the work, and comes back once the work has ended, so that nothing that
// it found by then is lost.
template <class F>
auto interruptibly(F work, std::optional<nb::python_error>& raised, const std::function<void()>& look = {}) {
  std::stop_source stop;
  std::optional<std::invoke_result_t<F, std::stop_token>> result;
  std::exception_ptr failure;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  {
    const nb::gil_scoped_release release;
    std::thread worker([&] {
      try {
        result.emplace(work(stop.get_token()));
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      changed.notify_all();
    });
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; })) {
      lock.unlock();
      if (!raised) {
        const nb::gil_scoped_acquire acquire;
        try {
          if (PyErr_CheckSignals() != 0) nb::raise_python_error();
          if (look) look();
        } catch (nb::python_error& error) {
          raised.emplace(std::move(error));
          stop.request_stop();
        }
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

// None, or what was raised.
inline nb::object exception_of(const std::optional<nb::python_error>& raised) {
  return raised ? nb::borrow(raised->value()) : nb::none();
}

void bind_modules(nb::module_& m);
void bind_models(nb::module_& m);
void bind_fits(nb::module_& m);
void bind_trainer(nb::module_& m);
void bind_results(nb::module_& m);

}  // namespace nalm::python
