// What the program calls in the MPI component. That is a library of its own, which is loaded under a launcher only: the
// program itself needs no MPI, and one program serves machines with and without it.
#pragma once

#include <cstddef>

extern "C" {

// One thread at a time calls these.
struct NalmMpi {
  int interface_version;  // of this struct
  int rank, size;
  int on_this_machine;  // ranks, this one among them

  // Never waits. The bytes are copied.
  void (*send)(int to, const void* bytes, std::size_t size);
  // Never waits. 1: a message; its bytes stay until the next call. Messages of one sender come in their order.
  int (*receive)(int* from, const void** bytes, std::size_t* size);
  int (*sending)();         // messages that are still on their way
  void (*finish)();         // when all ranks do
  void (*abort)(int code);  // ends all ranks, and does not come back
};

// Once per process. Null if MPI does not start.
const NalmMpi* nalm_mpi_start();
}

namespace nalm {
inline constexpr int mpi_interface_version = 1;
}
