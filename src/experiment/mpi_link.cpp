#ifndef NALM_STATIC
#include <dlfcn.h>
#endif
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "experiment/link.hpp"
#include "mpi/component.hpp"

namespace nalm {

#ifdef NALM_STATIC

Result<std::unique_ptr<Link>> open_mpi_link() {
  return Error{
      "this nalm is one static file, which cannot use MPI; take one that is built where MPI is installed, or give each "
      "process a share with --shard auto."};
}

#else

namespace {

namespace fs = std::filesystem;

constexpr const char* component_name = "nalm-mpi.so";

class MpiLink : public Link {
 public:
  explicit MpiLink(const NalmMpi& mpi) : mpi_(mpi) {}
  int rank() const override { return mpi_.rank; }
  int size() const override { return mpi_.size; }
  int on_this_machine() const override { return mpi_.on_this_machine; }
  void send(int to, std::string_view bytes) override { mpi_.send(to, bytes.data(), bytes.size()); }
  std::optional<Message> receive() override {
    int from = 0;
    const void* bytes = nullptr;
    std::size_t size = 0;
    if (mpi_.receive(&from, &bytes, &size) == 0) return std::nullopt;
    return Message{from, std::string(static_cast<const char*>(bytes), size)};
  }
  bool is_sending() override { return mpi_.sending() > 0; }
  void finish() override { mpi_.finish(); }
  void abort(int code) override { mpi_.abort(code); }

 private:
  const NalmMpi& mpi_;
};

// NALM_MPI alone if it is set; beside the program in a build folder; in lib/nalm where it is installed.
std::vector<fs::path> places() {
  if (const char* given = std::getenv("NALM_MPI")) return {given};
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  return {folder / component_name, folder / ".." / NALM_COMPONENT_FOLDER / component_name};
}

}  // namespace

Result<std::unique_ptr<Link>> open_mpi_link() {
  for (const fs::path& place : places()) {
    std::error_code ignored;
    if (!fs::exists(place, ignored)) continue;
    // MPI loads parts of its own, which look for its symbols among all.
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
      return Error{fmt::format("the MPI component cannot be loaded ({}); is MPI installed here?", dlerror())};
    const auto start = reinterpret_cast<decltype(&nalm_mpi_start)>(dlsym(library, "nalm_mpi_start"));
    const NalmMpi* mpi = start ? start() : nullptr;
    if (!mpi || mpi->interface_version != mpi_interface_version)
      return Error{fmt::format("{} does not belong to this nalm; build and install both together.", place.string())};
    return std::unique_ptr<Link>(std::make_unique<MpiLink>(*mpi));
  }
  return Error{
      "this nalm has no MPI component; build it where MPI is installed, or give each process a share with --shard "
      "auto."};
}

#endif

}  // namespace nalm
