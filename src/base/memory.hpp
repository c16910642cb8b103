// How much memory there is, for whoever would rather refuse than run into the limit.
#pragma once

namespace nalm {

// Of the machine, or what a limit (ulimit -v) leaves of it; in bytes. Infinite where it cannot be told.
double largest_memory();

}  // namespace nalm
