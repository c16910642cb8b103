#include "mpi/component.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <list>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr int tag = 1;
// An MPI that cannot reach a machine may wait for it forever.
constexpr unsigned seconds_to_abort = 10;
// And so may Open MPI's launchers. Asked twice they end at once, if they can.
constexpr std::array launchers{"mpirun", "mpiexec", "orterun", "orted", "prterun", "prted"};
struct Request {
  int after_milliseconds, signal;
};
constexpr std::array<Request, 3> requests_to_end{{{6000, SIGTERM}, {1000, SIGTERM}, {2000, SIGKILL}}};

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

// Sees from outside that the process which started this one ends: that is killed along with the job.
void end_launcher_if_it_waits() {
  const pid_t launcher = getppid();
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(launcher) + "/comm"), name);
  if (std::find(launchers.begin(), launchers.end(), name) == launchers.end()) return;  // a batch system ends by itself
  const auto handle = static_cast<int>(syscall(SYS_pidfd_open, launcher, 0u));
  if (handle < 0 || fork() != 0) return;
  setsid();
  // Nobody is to wait for this one: it keeps no file and no connection open but the handle.
  dup2(handle, STDIN_FILENO);
  syscall(SYS_close_range, 1u, ~0u, 0u);
  for (const Request& request : requests_to_end) {
    pollfd end{STDIN_FILENO, POLLIN, 0};
    if (poll(&end, 1, request.after_milliseconds) > 0) break;  // it has ended
    syscall(SYS_pidfd_send_signal, STDIN_FILENO, request.signal, nullptr, 0u);
  }
  _exit(0);
}

void abort_all(int code) {
  end_launcher_if_it_waits();
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
