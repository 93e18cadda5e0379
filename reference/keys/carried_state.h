// A thread's dispatch state, taken along to another thread that does a part of its work.
//
//   const CarriedState state;                                // on the thread that hands work out
//   { const CarriedState::Use use(state); Work(); }          // on a worker: keys are included and excluded as there
//
// What is carried is the key table that the thread last used and its words for it. A worker's own state is back when
// the Use ends. Use on the thread that made it; a CarriedState may be shared.
#ifndef PLUMBLINE_REFERENCE_KEYS_CARRIED_STATE_H_
#define PLUMBLINE_REFERENCE_KEYS_CARRIED_STATE_H_

#include <cstdint>

namespace plumbline::reference {

class CarriedState {
 public:
  CarriedState();  // this thread's

  class Use {
   public:
    explicit Use(const CarriedState& state);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();

   private:
    std::uint32_t table_number_;
    std::uint64_t include_ = 0, keep_ = 0;  // what the worker had for that table, if it had anything
    bool known_ = false;
  };

 private:
  std::uint32_t table_number_;
  std::uint64_t include_, keep_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_KEYS_CARRIED_STATE_H_
