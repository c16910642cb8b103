// Writes a text file beside its place and renames it when it is whole: a reader never sees half a file, and a full disk
// loses nothing that was there before.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

class FileWriter {
 public:
  explicit FileWriter(std::string path);
  ~FileWriter();  // without finish(), nothing is changed
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view text) { file_ << text; }
  Status finish();
  // Whether it could be begun: asked by who would rather know before an hour's work than after.
  Status begun() const;

 private:
  std::string path_, temporary_;
  bool is_special_;  // such as /dev/stdout, which cannot be replaced
  bool is_binary_;   // no text, so it was not written by this class
  std::ofstream file_;
  int open_error_ = 0;  // errno
};

Status write_file(const std::string& path, std::string_view text);

}  // namespace nalm
