// Pictures into files: SVG as it is, PDF and PNG through librsvg's converter if the system has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/picture.hpp"

namespace nalm::cli {

// The format that is asked for, or that the ending of the file says; "" if neither does.
std::string picture_format(const std::string& format, const std::string& path);
// "84mm", "8.4cm", "3.3in", "640" (pixels): in pixels, of which an inch has 96.
Result<double> read_width(const std::string& text);
// format: svg, pdf or png. width: as it was given, or empty.
Status write_picture(const Picture& picture, const std::string& format, const std::string& width,
                     const std::string& path);

}  // namespace nalm::cli
