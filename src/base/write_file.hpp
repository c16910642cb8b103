// Writes a text file beside its place and renames it when it is whole: a reader never sees half a file, and a full disk
// loses nothing that was there before. Links lead to the file that is replaced; what cannot be replaced, such as
// /dev/stdout or a pipe with a name, is written to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

class FileWriter {
 public:
  explicit FileWriter(std::string path) : path_(std::move(path)) {}  // touches nothing
  ~FileWriter();                                                     // without finish(), nothing is changed
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view text);
  Status finish();

 private:
  void open();
  void flush();
  void fail(std::string_view what);  // with errno
  void discard();

  std::string path_, place_, temporary_;  // as given, without links, and what becomes it; "" if written to directly
  std::string buffer_;
  int descriptor_ = -1;
  std::optional<Error> error_;  // the first one
};

Status write_file(const std::string& path, std::string_view text);

// Whether it could be written, as far as that can be known without writing: for who would rather know before an hour's
// work than after.
Status can_write(const std::string& path);

}  // namespace nalm
