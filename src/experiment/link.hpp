// Messages between the processes of one job. Rank 0 leads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

class Link {
 public:
  struct Message {
    int from = 0;
    std::string bytes;
  };

  virtual ~Link() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int on_this_machine() const = 0;  // ranks, this one among them

  // Neither waits. Messages of one sender come in their order.
  virtual void send(int to, std::string_view bytes) = 0;
  virtual std::optional<Message> receive() = 0;
  virtual bool is_sending() = 0;  // something is still on its way

  virtual void finish() = 0;         // once everybody does
  virtual void abort(int code) = 0;  // ends all ranks
};

// Over MPI: the component that is built where MPI is (src/mpi), from beside the program or from lib/nalm. An error says
// that it is not there, and what to do.
Result<std::unique_ptr<Link>> open_mpi_link();

}  // namespace nalm
