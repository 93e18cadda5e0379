#include "kernels/cpu/elementwise.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/thread_pool.h"

namespace plumbline::kernels::cpu {
namespace {

constexpr std::int64_t kBlock = 1024;    // elements in a buffer
constexpr std::int64_t kDirect = 16384;  // elements of a piece without a buffer
constexpr std::int64_t kShortRow = 128;  // rows shorter than this share a block
constexpr int kTileRows = 32, kTileColumns = 320;
constexpr std::int64_t kStreamBytes = std::int64_t{16} << 20;  // outputs from this size on pass the caches by

template <class T>
void CopyRun(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride, std::int64_t n) {
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  if (to_stride == sizeof(T)) {
    T* const packed = static_cast<T*>(to);
    if (from_stride == 0) {
      const T value = *static_cast<const T*>(from);
      for (std::int64_t i = 0; i < n; ++i) packed[i] = value;
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) packed[i] = *reinterpret_cast<const T*>(in + i * from_stride);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<T*>(out + i * to_stride) = *reinterpret_cast<const T*>(in + i * from_stride);
  }
}

void CopyRun(std::size_t item, void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
             std::int64_t n) {
  const auto size = static_cast<std::int64_t>(item);
  if (to_stride == size && from_stride == size) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * item);
    return;
  }
  switch (item) {
    case 1:
      return CopyRun<std::uint8_t>(to, to_stride, from, from_stride, n);
    case 2:
      return CopyRun<std::uint16_t>(to, to_stride, from, from_stride, n);
    case 4:
      return CopyRun<std::uint32_t>(to, to_stride, from, from_stride, n);
    default:
      return CopyRun<std::uint64_t>(to, to_stride, from, from_stride, n);
  }
}

int Log2Of(std::size_t item) { return item == 1 ? 0 : item == 2 ? 1 : item == 4 ? 2 : 3; }

struct Dim {
  std::int64_t size;
  std::int64_t stride[kMaxOperands];
};

// The dimensions of a work, innermost first, those that can be one joined.
struct Plan {
  const Elementwise& work;
  const LevelTable& level = Level();
  int count;  // of operands
  int dims = 0;
  std::int64_t numel = 1;
  Dim dim[kMaxDims];
  std::int64_t item[kMaxOperands];
  bool flat[kMaxOperands];      // side by side over all dimensions
  bool constant[kMaxOperands];  // one element
  const Parameters nothing;

  explicit Plan(const Elementwise& w) : work(w), count(static_cast<int>(w.operands.size())) {
    for (std::size_t d = w.sizes.size(); d-- > 0;) {
      numel *= w.sizes[d];
      if (w.sizes[d] == 1) continue;
      Dim& mine = dim[dims++];
      mine.size = w.sizes[d];
      for (int k = 0; k < count; ++k) mine.stride[k] = w.operands[k].strides[d];
    }
    if (numel == 0) return;
    Sort();
    Join();
    if (dims == 0) dim[dims++] = {1, {}};
    for (int k = 0; k < count; ++k) {
      item[k] = static_cast<std::int64_t>(SizeOf(w.operands[k].type));
      std::int64_t expected = item[k];
      flat[k] = constant[k] = true;
      for (int d = 0; d < dims; ++d) {
        flat[k] = flat[k] && (dim[d].stride[k] == expected || dim[d].size == 1);
        constant[k] = constant[k] && dim[d].stride[k] == 0 && k > 0;
        expected *= dim[d].size;
      }
    }
  }

  // Whether dimension a should be inside of b: by the first operand that tells them apart.
  bool Inside(const Dim& a, const Dim& b) const {
    for (int k = 0; k < count; ++k) {
      if (a.stride[k] == 0 || b.stride[k] == 0 || a.stride[k] == b.stride[k]) continue;
      return a.stride[k] < b.stride[k];
    }
    return false;
  }
  void Sort() {
    for (int i = 1; i < dims; ++i) {
      for (int j = i; j > 0 && Inside(dim[j], dim[j - 1]); --j) std::swap(dim[j], dim[j - 1]);
    }
  }
  void Join() {
    int last = 0;
    for (int d = 1; d < dims; ++d) {
      bool joins = true;
      for (int k = 0; k < count; ++k) joins = joins && dim[d].stride[k] == dim[last].stride[k] * dim[last].size;
      if (joins) {
        dim[last].size *= dim[d].size;
      } else {
        dim[++last] = dim[d];
      }
    }
    if (dims > 0) dims = last + 1;
  }

  bool Ready(int k) const { return work.operands[k].type == work.operands[k].wanted; }
  // No operand needs a buffer when the inner dimension is walked.
  bool AllDirect() const {
    for (int k = 0; k < count; ++k) {
      if (!Ready(k) || (!constant[k] && dim[0].stride[k] != item[k] && dim[0].size != 1)) return false;
    }
    return true;
  }
};

// A place in the iteration: the linear index of an element, its index in each dimension and its address in each
// operand.
struct Place {
  std::int64_t at[kMaxDims];
  char* data[kMaxOperands];

  Place(const Plan& plan, std::int64_t linear) {
    for (int k = 0; k < plan.count; ++k) data[k] = static_cast<char*>(plan.work.operands[k].data);
    for (int d = 0; d < plan.dims; ++d) {
      at[d] = linear % plan.dim[d].size;
      linear /= plan.dim[d].size;
      for (int k = 0; k < plan.count; ++k) data[k] += at[d] * plan.dim[d].stride[k];
    }
  }
  // By n elements, which end in this row or with it.
  void Advance(const Plan& plan, std::int64_t n) {
    at[0] += n;
    for (int k = 0; k < plan.count; ++k) data[k] += n * plan.dim[0].stride[k];
    for (int d = 0; at[d] == plan.dim[d].size && d + 1 < plan.dims; ++d) {
      at[d] = 0;
      ++at[d + 1];
      for (int k = 0; k < plan.count; ++k) {
        data[k] += plan.dim[d + 1].stride[k] - plan.dim[d].size * plan.dim[d].stride[k];
      }
    }
  }
};

struct alignas(64) Buffer {
  char bytes[kBlock * 8];
};

// One block of `n` elements from `place` on, which moves behind it.
class Blocks {
 public:
  explicit Blocks(const Plan& plan) : plan_(plan) {
    for (int k = 1; k < plan.count; ++k) filled_[k] = nullptr;
  }

  void Run(Place& place, std::int64_t n) {
    // The runs of the block: one in each row that it touches.
    const bool one_run = place.at[0] + n <= plan_.dim[0].size;
    const Place& begin = place;
    void* data[kMaxOperands];
    for (int k = 1; k < plan_.count; ++k) data[k] = Input(k, begin, n, one_run);
    const bool direct = IsDirect(0, one_run);
    const Operand& out = plan_.work.operands[0];
    data[0] = direct && plan_.Ready(0) ? begin.data[0] : buffers_[0].bytes;
    plan_.work.loop(data, n, plan_.work.parameters);
    if (!plan_.Ready(0)) {
      void* const cast[] = {direct ? static_cast<void*>(begin.data[0]) : spare_.bytes, buffers_[0].bytes};
      plan_.level.cast[Index(out.wanted)][Index(out.type)](cast, n, plan_.nothing);
    }
    if (!direct) Scatter(begin, n, plan_.Ready(0) ? buffers_[0].bytes : spare_.bytes);
    if (one_run) {
      place.Advance(plan_, n);
    } else {
      Walk(place, n, [](const Place&, std::int64_t, std::int64_t) {});
    }
  }

 private:
  bool IsDirect(int k, bool one_run) const {
    return plan_.flat[k] || (one_run && (plan_.dim[0].stride[k] == plan_.item[k] || plan_.dim[0].size == 1));
  }

  void* Input(int k, const Place& begin, std::int64_t n, bool one_run) {
    const Operand& operand = plan_.work.operands[k];
    const bool ready = plan_.Ready(k);
    if (IsDirect(k, one_run)) {
      if (ready) return begin.data[k];
      void* const cast[] = {buffers_[k].bytes, begin.data[k]};
      plan_.level.cast[Index(operand.type)][Index(operand.wanted)](cast, n, plan_.nothing);
      return buffers_[k].bytes;
    }
    // One value for the whole block, and perhaps for those that follow.
    const bool repeats = plan_.constant[k] || (one_run && plan_.dim[0].stride[k] == 0);
    if (repeats && filled_[k] == begin.data[k]) return buffers_[k].bytes;
    char* const to = ready ? buffers_[k].bytes : spare_.bytes;
    filled_[k] = repeats ? begin.data[k] : nullptr;
    if (repeats) {
      n = std::min(kBlock, plan_.constant[k] ? plan_.numel : plan_.dim[0].size);
      CopyRun(static_cast<std::size_t>(plan_.item[k]), to, plan_.item[k], begin.data[k], 0, n);
    } else {
      if (one_run) {
        CopyRun(static_cast<std::size_t>(plan_.item[k]), to, plan_.item[k], begin.data[k], plan_.dim[0].stride[k], n);
      } else {
        Place from = begin;
        Walk(from, n, [&](const Place& run, std::int64_t done, std::int64_t length) {
          CopyRun(static_cast<std::size_t>(plan_.item[k]), to + done * plan_.item[k], plan_.item[k], run.data[k],
                  plan_.dim[0].stride[k], length);
        });
      }
    }
    if (!ready) {
      void* const cast[] = {buffers_[k].bytes, spare_.bytes};
      plan_.level.cast[Index(operand.type)][Index(operand.wanted)](cast, n, plan_.nothing);
    }
    return buffers_[k].bytes;
  }

  void Scatter(const Place& begin, std::int64_t n, const char* from) {
    Place to = begin;
    Walk(to, n, [&](const Place& run, std::int64_t done, std::int64_t length) {
      CopyRun(static_cast<std::size_t>(plan_.item[0]), run.data[0], plan_.dim[0].stride[0], from + done * plan_.item[0],
              plan_.item[0], length);
    });
  }

  template <class F>
  void Walk(Place& place, std::int64_t n, F visit) const {
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t length = std::min(n - done, plan_.dim[0].size - place.at[0]);
      visit(place, done, length);
      place.Advance(plan_, length);
      done += length;
    }
  }

  const Plan& plan_;
  const char* filled_[kMaxOperands];  // whose one value fills the buffer
  Buffer buffers_[kMaxOperands];
  Buffer spare_;
};

void RunRange(const Plan& plan, std::int64_t begin, std::int64_t end) {
  Blocks blocks(plan);
  Place place(plan, begin);
  const bool rows = plan.dim[0].size >= kShortRow;
  const std::int64_t most = rows && plan.AllDirect() ? kDirect : kBlock;
  bool any_constant = false;
  for (int k = 1; k < plan.count; ++k) any_constant = any_constant || plan.constant[k];
  const std::int64_t limit = any_constant ? kBlock : most;
  while (begin < end) {
    std::int64_t n = std::min(limit, end - begin);
    if (rows) n = std::min(n, plan.dim[0].size - place.at[0]);
    blocks.Run(place, n);
    begin += n;
  }
}

// ---- rows ----

// Whether each row can be given to the loop as it is: its output and inputs lie side by side, or an input is one
// element in each row. Rows are neither so short that the calls cost more than they save nor so long that there are too
// few.
bool WantsRows(const Plan& plan) {
  if (plan.dims < 2 || plan.dim[0].size < kShortRow || plan.dim[0].size > kDirect) return false;
  for (int k = 0; k < plan.count; ++k) {
    const bool repeats = k > 0 && plan.dim[0].stride[k] == 0;
    if (!plan.Ready(k) || (!repeats && plan.dim[0].stride[k] != plan.item[k])) return false;
  }
  return true;
}

void RunRows(const Plan& plan, std::int64_t begin, std::int64_t end) {
  const std::int64_t length = plan.dim[0].size;
  Buffer buffers[kMaxOperands];
  const char* filled[kMaxOperands] = {};
  bool repeats[kMaxOperands], any = false;
  for (int k = 0; k < plan.count; ++k) any |= repeats[k] = plan.dim[0].stride[k] == 0;
  const std::int64_t most = any ? std::min(kBlock, length) : length;
  Place place(plan, begin * length);
  for (std::int64_t row = begin; row < end; ++row, place.Advance(plan, length)) {
    for (int k = 1; k < plan.count; ++k) {
      if (!repeats[k] || filled[k] == place.data[k]) continue;
      filled[k] = place.data[k];
      CopyRun(static_cast<std::size_t>(plan.item[k]), buffers[k].bytes, plan.item[k], place.data[k], 0, most);
    }
    for (std::int64_t at = 0; at < length; at += most) {
      void* data[kMaxOperands];
      for (int k = 0; k < plan.count; ++k) data[k] = repeats[k] ? buffers[k].bytes : place.data[k] + at * plan.item[k];
      plan.work.loop(data, std::min(most, length - at), plan.work.parameters);
    }
  }
}

// ---- tiles ----

// Whether input k runs along dimension 1, while the output runs along dimension 0.
bool Transposed(const Plan& plan, int k) {
  return plan.dim[1].stride[k] == plan.item[k] && plan.dim[0].stride[k] != plan.item[k] && plan.dim[0].stride[k] != 0;
}

bool WantsTiles(const Plan& plan) {
  if (plan.dims < 2 || plan.dim[0].stride[0] != plan.item[0] || plan.dim[0].size < 16 || plan.dim[1].size < 8)
    return false;
  bool any = false;
  for (int k = 0; k < plan.count; ++k) {
    if (!plan.Ready(k)) return false;
    const bool direct = plan.dim[0].stride[k] == plan.item[k];
    if (k > 0 && Transposed(plan, k)) {
      any = true;
    } else if (!direct && !plan.constant[k]) {
      return false;
    }
  }
  return any;
}

// Rows [begin, end) of the tiles' rows, which count through all dimensions but the first.
void RunTiles(const Plan& plan, std::int64_t begin, std::int64_t end) {
  struct alignas(64) Tile {
    char bytes[kTileRows * kTileColumns * 8];
  };
  Tile tiles[kMaxOperands];
  const std::int64_t strips = (plan.dim[1].size + kTileRows - 1) / kTileRows;
  for (int k = 1; k < plan.count; ++k) {
    if (!plan.constant[k]) continue;
    CopyRun(static_cast<std::size_t>(plan.item[k]), tiles[k].bytes, plan.item[k], plan.work.operands[k].data, 0,
            kTileColumns);
  }
  for (std::int64_t strip = begin; strip < end; ++strip) {
    const std::int64_t first_row = (strip % strips) * kTileRows;
    const int rows = static_cast<int>(std::min<std::int64_t>(kTileRows, plan.dim[1].size - first_row));
    char* base[kMaxOperands];
    for (int k = 0; k < plan.count; ++k) {
      base[k] = static_cast<char*>(plan.work.operands[k].data) + first_row * plan.dim[1].stride[k];
      std::int64_t outer = strip / strips;
      for (int d = 2; d < plan.dims; ++d) {
        base[k] += (outer % plan.dim[d].size) * plan.dim[d].stride[k];
        outer /= plan.dim[d].size;
      }
    }
    for (std::int64_t column = 0; column < plan.dim[0].size; column += kTileColumns) {
      const int columns = static_cast<int>(std::min<std::int64_t>(kTileColumns, plan.dim[0].size - column));
      std::int64_t row_stride[kMaxOperands];
      char* row[kMaxOperands];
      for (int k = 0; k < plan.count; ++k) {
        row[k] = base[k] + column * plan.dim[0].stride[k];
        row_stride[k] = plan.dim[1].stride[k];
        if (k == 0) continue;
        if (plan.constant[k]) {
          row[k] = tiles[k].bytes;
          row_stride[k] = 0;
        } else if (Transposed(plan, k)) {
          const std::int64_t tile_stride = kTileColumns * plan.item[k];
          plan.level.transpose[Log2Of(static_cast<std::size_t>(plan.item[k]))](tiles[k].bytes, tile_stride, row[k],
                                                                               plan.dim[0].stride[k], rows, columns);
          row[k] = tiles[k].bytes;
          row_stride[k] = tile_stride;
        }
      }
      for (int r = 0; r < rows; ++r) {
        void* data[kMaxOperands];
        for (int k = 0; k < plan.count; ++k) data[k] = row[k] + r * row_stride[k];
        plan.work.loop(data, columns, plan.work.parameters);
      }
    }
  }
}

// ---- outputs that pass the caches by ----

void RunStreaming(const LevelTable& level, void* const* data, const std::size_t* item, int count, std::int64_t begin,
                  std::int64_t end, Loop loop, const Parameters& parameters) {
  alignas(64) char buffer[kBlock * 8];
  const auto run = [&](std::int64_t at, std::int64_t n, void* out) {
    void* piece[kMaxOperands];
    for (int k = 1; k < count; ++k) piece[k] = static_cast<char*>(data[k]) + at * static_cast<std::int64_t>(item[k]);
    piece[0] = out;
    loop(piece, n, parameters);
  };
  char* const out = static_cast<char*>(data[0]);
  const auto size = static_cast<std::int64_t>(item[0]);
  const std::int64_t unaligned = (-(reinterpret_cast<std::intptr_t>(out) + begin * size)) & 31;
  if (unaligned % size != 0) return run(begin, end - begin, out + begin * size);
  const std::int64_t head = std::min(end - begin, unaligned / size);
  if (head > 0) run(begin, head, out + begin * size);
  std::int64_t at = begin + head;
  for (; at + kBlock <= end; at += kBlock) {
    run(at, kBlock, buffer);
    level.stream(out + at * size, buffer, kBlock * size);
  }
  if (at < end) run(at, end - at, out + at * size);
  __builtin_ia32_sfence();
}

}  // namespace

bool IsCheap(UnaryOp op) {
  return op < UnaryOp::kReciprocal || (op >= UnaryOp::kFloor && op <= UnaryOp::kFrac) || op == UnaryOp::kLeakyRelu ||
         op == UnaryOp::kHardsigmoid || op == UnaryOp::kHardswish;
}

bool IsCheap(BinaryOp op) { return op <= BinaryOp::kDiv || op >= BinaryOp::kSigmoidBackward; }

void RunContiguous(void* const* data, const std::size_t* item_sizes, int count, std::int64_t n, Loop loop,
                   const Parameters& parameters, bool cheap) {
  if (n < kWorthwhile) {
    if (n > 0) loop(data, n, parameters);
    return;
  }
  bool streams = cheap && n * static_cast<std::int64_t>(item_sizes[0]) >= kStreamBytes;
  for (int k = 1; k < count; ++k) streams = streams && data[k] != data[0];
  const LevelTable& level = Level();
  ParallelFor(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    if (streams) return RunStreaming(level, data, item_sizes, count, begin, end, loop, parameters);
    void* piece[kMaxOperands];
    for (int k = 0; k < count; ++k) {
      piece[k] = static_cast<char*>(data[k]) + begin * static_cast<std::int64_t>(item_sizes[k]);
    }
    loop(piece, end - begin, parameters);
  });
}

void RunElementwise(const Elementwise& work) {
  const Plan plan(work);
  if (plan.numel == 0) return;
  bool all_flat = true;
  for (int k = 0; k < plan.count; ++k) all_flat = all_flat && plan.flat[k] && plan.Ready(k);
  if (all_flat) {
    void* data[kMaxOperands];
    std::size_t item[kMaxOperands];
    for (int k = 0; k < plan.count; ++k) {
      data[k] = work.operands[k].data;
      item[k] = static_cast<std::size_t>(plan.item[k]);
    }
    return RunContiguous(data, item, plan.count, plan.numel, work.loop, work.parameters, work.cheap);
  }
  if (WantsTiles(plan)) {
    const std::int64_t rows = (plan.dim[1].size + kTileRows - 1) / kTileRows;
    std::int64_t strips = rows;
    for (int d = 2; d < plan.dims; ++d) strips *= plan.dim[d].size;
    const std::int64_t elements = kTileRows * plan.dim[0].size;
    return ParallelFor(
        strips, std::max<std::int64_t>(1, kGrain / elements),
        [&](std::int64_t begin, std::int64_t end) { RunTiles(plan, begin, end); }, elements);
  }
  if (WantsRows(plan)) {
    const std::int64_t length = plan.dim[0].size;
    return ParallelFor(
        plan.numel / length, std::max<std::int64_t>(1, kGrain / length),
        [&](std::int64_t begin, std::int64_t end) { RunRows(plan, begin, end); }, length);
  }
  ParallelFor(plan.numel, kGrain, [&](std::int64_t begin, std::int64_t end) { RunRange(plan, begin, end); });
}

void Copy(std::span<const std::int64_t> sizes, const Operand& out, const Operand& in) {
  const Parameters nothing;
  Operand operands[] = {out, in};
  operands[0].wanted = out.type;
  operands[1].wanted = in.type;
  RunElementwise({sizes, operands, Level().cast[Index(in.type)][Index(out.type)], nothing});
}

void Fill(std::span<const std::int64_t> sizes, void* out, const std::int64_t* strides, std::size_t item_size,
          const void* item) {
  constexpr Type kOfSize[] = {Type::kU8, Type::kI16, Type::kI32, Type::kI64};
  const Type type = kOfSize[Log2Of(item_size)];
  const Parameters nothing;
  std::int64_t bits = 0;
  std::memcpy(&bits, item, item_size);
  Parameters value;
  value.integer[0] = bits;
  const Operand operands[] = {{out, strides, type, type}};
  constexpr Loop kFills[] = {
      [](void* const* data, std::int64_t n, const Parameters& p) {
        std::memset(data[0], static_cast<int>(p.integer[0] & 0xff), static_cast<std::size_t>(n));
      },
      [](void* const* data, std::int64_t n, const Parameters& p) {
        std::fill_n(static_cast<std::int16_t*>(data[0]), n, static_cast<std::int16_t>(p.integer[0]));
      },
      [](void* const* data, std::int64_t n, const Parameters& p) {
        std::fill_n(static_cast<std::int32_t*>(data[0]), n, static_cast<std::int32_t>(p.integer[0]));
      },
      [](void* const* data, std::int64_t n, const Parameters& p) {
        std::fill_n(static_cast<std::int64_t*>(data[0]), n, p.integer[0]);
      }};
  RunElementwise({sizes, operands, kFills[Log2Of(item_size)], value});
}

}  // namespace plumbline::kernels::cpu
