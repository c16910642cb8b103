#include "mpi/component.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <list>
#include <set>
#include <vector>

namespace {

constexpr int tag = 1;
// An MPI that cannot reach a machine may wait for it forever.
constexpr unsigned seconds_to_abort = 10;

struct Transfer {
  int peer = 0;
  std::vector<char> bytes;
  MPI_Request request = MPI_REQUEST_NULL;

  bool is_complete() {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }
};

std::list<Transfer> outgoing, incoming;
std::vector<char> delivered;

void drop_sent() {
  outgoing.remove_if([](Transfer& transfer) { return transfer.is_complete(); });
}

void send(int to, const void* bytes, std::size_t size) {
  const char* first = static_cast<const char*>(bytes);
  Transfer& transfer = outgoing.emplace_back();
  transfer.peer = to;
  transfer.bytes.assign(first, first + size);
  MPI_Isend(transfer.bytes.data(), static_cast<int>(size), MPI_BYTE, to, tag, MPI_COMM_WORLD, &transfer.request);
}

// A message that stands announced may never arrive whole, if its sender is cut off: nobody waits for it.
void begin_to_receive() {
  for (;;) {
    int there = 0, size = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &message, &status);
    if (!there) return;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Transfer& transfer = incoming.emplace_back();
    transfer.peer = status.MPI_SOURCE;
    transfer.bytes.resize(static_cast<std::size_t>(size));
    MPI_Imrecv(transfer.bytes.data(), size, MPI_BYTE, &message, &transfer.request);
  }
}

int receive(int* from, const void** bytes, std::size_t* size) {
  drop_sent();
  begin_to_receive();
  std::set<int> waiting;  // peers of which an earlier message is not whole
  for (auto one = incoming.begin(); one != incoming.end(); ++one) {
    if (waiting.contains(one->peer)) continue;
    if (!one->is_complete()) {
      waiting.insert(one->peer);
      continue;
    }
    *from = one->peer;
    delivered = std::move(one->bytes);
    incoming.erase(one);
    *bytes = delivered.data();
    *size = delivered.size();
    return 1;
  }
  return 0;
}

int sending() {
  drop_sent();
  return static_cast<int>(outgoing.size());
}

void finish() { MPI_Finalize(); }

void abort_all(int code) {
  alarm(seconds_to_abort);
  MPI_Abort(MPI_COMM_WORLD, code);
  _exit(code);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const NalmMpi* nalm_mpi_start() {
  static NalmMpi mpi{nalm::mpi_interface_version, 0, 1, 1, send, receive, sending, finish, abort_all};
  int granted = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &granted) != MPI_SUCCESS) return nullptr;
  MPI_Comm_rank(MPI_COMM_WORLD, &mpi.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &mpi.size);
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &mpi.on_this_machine);
  MPI_Comm_free(&machine);
  return &mpi;
}
