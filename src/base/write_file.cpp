#include "base/write_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

namespace nalm {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view cannot_begin = "the file cannot be written";

Error failure(const std::string& path, std::string_view what, int code) {
  return {fmt::format("{}: {} ({}); nothing was changed.", path, what, std::strerror(code))};
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Where a path leads.
struct Place {
  std::string path;     // without links at its end; the file need not exist
  int descriptor = -1;  // of this program, if it leads to one
  bool exists = false;
  struct stat about {};  // if it exists
  int error = 0;         // errno, if nothing can be written there
  bool is_replaced() const { return descriptor < 0 && (!exists || S_ISREG(about.st_mode)); }
};

// Links are followed by hand, for two reasons: they may lead to a file that is still to be made, and /dev/stdout and
// /dev/fd/5 look like links to the files behind them, which have a writer already: this program.
Place place_of(const std::string& path) {
  constexpr int most = 40;  // as many as Linux follows
  Place place{path};
  for (int k = 0; k < most; ++k) {
    std::error_code error;
    const fs::path folder = fs::canonical(folder_of(place.path), error);
    const std::string name = fs::path(place.path).filename().string();
    if (!error && folder == fmt::format("/proc/{}/fd", ::getpid()) && !name.empty() &&
        name.find_first_not_of("0123456789") == name.npos) {
      place.descriptor = std::atoi(name.c_str());
      return place;
    }
    const fs::path next = fs::read_symlink(place.path, error);
    if (error) break;
    place.path = (fs::path(place.path).parent_path() / next).string();
  }
  place.exists = ::stat(place.path.c_str(), &place.about) == 0;
  if (!place.exists && errno != ENOENT) place.error = errno;
  // A folder's owner may replace any file in it. A file that is not to be written to is left alone all the same.
  if (place.exists && ::access(place.path.c_str(), W_OK) != 0) place.error = errno;
  if (place.exists && S_ISDIR(place.about.st_mode)) place.error = EISDIR;
  return place;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Not every file system can; then it is as safe as it can be there.
bool synced(int descriptor) {
  return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

}  // namespace

FileWriter::~FileWriter() { discard(); }

void FileWriter::fail(std::string_view what) {
  if (!error_) error_ = failure(path_, what, errno);
  discard();
}

void FileWriter::discard() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void FileWriter::open() {
  const Place place = place_of(path_);
  place_ = place.path;
  errno = place.error;
  if (place.error) return fail(cannot_begin);
  if (!place.is_replaced()) {
    if (place.descriptor == STDOUT_FILENO) std::fflush(stdout);  // what was printed before comes before
    descriptor_ = place.descriptor >= 0 ? ::fcntl(place.descriptor, F_DUPFD_CLOEXEC, 3)
                                        : ::open(place_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail(cannot_begin);
    return;
  }
  // A name that nobody can foresee, and never one that is there: no link, and no file of somebody's, is written to. It
  // does not hold the file's own name, which may be as long as names can be.
  std::random_device random;
  do {
    temporary_ = fmt::format("{}/.nalm-{:08x}{:08x}", folder_of(place_), random(), random());
    descriptor_ =
        ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, place.exists ? 0600 : 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    temporary_.clear();
    return fail(cannot_begin);
  }
  if (!place.exists) return;
  // What was private stays private. Only root can give a file away, so a failure to keep its owner is none.
  if (::fchown(descriptor_, place.about.st_uid, place.about.st_gid) != 0) errno = 0;
  if (::fchmod(descriptor_, place.about.st_mode & 07777) != 0) fail("its permissions cannot be kept");
}

void FileWriter::flush() {
  if (error_) return buffer_.clear();
  if (descriptor_ < 0) open();
  if (!error_ && !write_all(descriptor_, buffer_)) fail("writing failed");
  buffer_.clear();
}

void FileWriter::write(std::string_view text) {
  constexpr std::size_t block = 1 << 16;
  buffer_ += text;
  if (buffer_.size() >= block) flush();
}

Status FileWriter::finish() {
  flush();
  if (error_) return *error_;
  const bool is_file = !temporary_.empty();
  if (is_file && !synced(descriptor_)) fail("writing failed");
  if (!error_ && ::close(std::exchange(descriptor_, -1)) != 0) fail("writing failed");
  if (error_) return *error_;
  if (!is_file) return Done{};
  if (::rename(temporary_.c_str(), place_.c_str()) != 0) {
    fail("the file cannot be replaced");
    return *error_;
  }
  temporary_.clear();
  // The new name is in the folder, and a folder is written to disk on its own.
  const int folder = ::open(folder_of(place_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return Done{};  // one may be allowed to write to a folder and not to read it
  const bool good = synced(folder);
  ::close(folder);
  if (!good) return Error{fmt::format("{}: written, but the disk may not keep it ({}).", path_, std::strerror(errno))};
  return Done{};
}

Status write_file(const std::string& path, std::string_view text) {
  FileWriter file(path);
  file.write(text);
  return file.finish();
}

Status can_write(const std::string& path) {
  const Place place = place_of(path);
  if (place.error) return failure(path, cannot_begin, place.error);
  if (place.is_replaced() && ::access(folder_of(place.path).c_str(), W_OK | X_OK) != 0)
    return failure(path, cannot_begin, errno);
  return Done{};
}

}  // namespace nalm
