#include "kernels/cpu/reduce.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace plumbline::kernels::cpu {
namespace {

constexpr std::int64_t kPiece = 8192;     // elements whose sum is made in the element type
constexpr std::int64_t kStripe = 1024;    // columns that are reduced together
constexpr std::int64_t kRowsATime = 256;  // rows whose sums are made in the element type

// Joins partial results.
class Joined {
 public:
  Joined(ReduceOp op, Type type) : op_(op), is_float_(type != Type::kI64) {
    switch (op) {
      case ReduceOp::kProd:
        real_ = 1;
        integer_ = 1;
        break;
      case ReduceOp::kMin:
        real_ = std::numeric_limits<double>::infinity();
        integer_ = std::numeric_limits<std::int64_t>::max();
        break;
      case ReduceOp::kMax:
        real_ = -std::numeric_limits<double>::infinity();
        integer_ = std::numeric_limits<std::int64_t>::min();
        break;
      default:
        break;
    }
  }

  void Add(Partial partial) { is_float_ ? AddReal(partial.real) : AddInteger(partial.integer); }
  Partial Get() const {
    Partial result;
    if (is_float_) {
      result.real = IsSum() ? sum_.Get() : real_;
    } else {
      result.integer = integer_;
    }
    return result;
  }

 private:
  bool IsSum() const {
    return op_ == ReduceOp::kSum || op_ == ReduceOp::kSumSquares || op_ == ReduceOp::kSumAbs ||
           op_ == ReduceOp::kCountNonZero;
  }
  void AddReal(double x) {
    switch (op_) {
      case ReduceOp::kProd:
        real_ *= x;
        return;
      case ReduceOp::kMin:
        real_ = std::isnan(real_) || real_ < x ? real_ : x;
        return;
      case ReduceOp::kMax:
      case ReduceOp::kMaxAbs:
        real_ = std::isnan(real_) || real_ > x ? real_ : x;
        return;
      default:
        sum_.Add(x);
    }
  }
  void AddInteger(std::int64_t x) {
    const auto wrap = [](auto value) { return static_cast<std::uint64_t>(value); };
    switch (op_) {
      case ReduceOp::kProd:
        integer_ = static_cast<std::int64_t>(wrap(integer_) * wrap(x));
        return;
      case ReduceOp::kMin:
        integer_ = std::min(integer_, x);
        return;
      case ReduceOp::kMax:
      case ReduceOp::kMaxAbs:
        integer_ = std::max(integer_, x);
        return;
      default:
        integer_ = static_cast<std::int64_t>(wrap(integer_) + wrap(x));
    }
  }

  ReduceOp op_;
  bool is_float_;
  double real_ = 0;
  CompensatedSum sum_;
  std::int64_t integer_ = 0;
};

const char* At(const void* data, Type type, std::int64_t i) {
  return static_cast<const char*>(data) + i * static_cast<std::int64_t>(SizeOf(type));
}

// Errors of equal factors do not cancel, as those of doubles in lanes would be.
Partial ProductOf(const double* row, std::int64_t n) {
  long double product = 1;
  for (std::int64_t i = 0; i < n; ++i) product *= row[i];
  Partial partial;
  partial.real = static_cast<double>(product);
  return partial;
}

Partial ReducePieces(ReduceOp op, Type type, const void* row, std::int64_t n) {
  if (op == ReduceOp::kProd && type == Type::kF64) return ProductOf(static_cast<const double*>(row), n);
  const auto reduce = Level().reduce[Index(op)][Index(type)];
  if (n <= kPiece) return reduce(row, n);
  Joined joined(op, type);
  for (std::int64_t i = 0; i < n; i += kPiece) joined.Add(reduce(At(row, type, i), std::min(kPiece, n - i)));
  return joined.Get();
}

double ElementAt(Type type, const void* row, std::int64_t i) {
  return type == Type::kF32 ? static_cast<double>(static_cast<const float*>(row)[i])
                            : static_cast<const double*>(row)[i];
}

template <class T>
std::int64_t FirstAs(const T* row, std::int64_t n, T value) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (row[i] == value || (row[i] != row[i] && value != value)) return i;
  }
  return 0;
}

std::int64_t FirstOf(Type type, const void* row, std::int64_t n, const Partial& value) {
  if (type == Type::kI64) return FirstAs(static_cast<const std::int64_t*>(row), n, value.integer);
  if (type == Type::kF64) return FirstAs(static_cast<const double*>(row), n, value.real);
  return FirstAs(static_cast<const float*>(row), n, static_cast<float>(value.real));
}

double SumOver(double (*piece)(const void*, std::int64_t, double), Type type, const void* row, std::int64_t n,
               double c) {
  Joined joined(ReduceOp::kSum, type);
  for (std::int64_t i = 0; i < n; i += kPiece) {
    Partial partial;
    partial.real = piece(At(row, type, i), std::min(kPiece, n - i), c);
    joined.Add(partial);
  }
  return joined.Get().real;
}

// A row that is in memory as a whole.
struct ShortRow {
  Type type;
  const void* elements;
  std::int64_t n;

  Partial Get(ReduceOp op) const { return ReduceRow(op, type, elements, n); }
  template <class F>
  double SumOf(const F& of) const {
    return of(elements, n);
  }
  template <class F>
  double LeastOf(const F& of) const {
    return of(elements, n);
  }
  std::int64_t Arg(ReduceOp op) const { return FirstOf(type, elements, n, Get(op)); }
};

// A row that is too long to be gathered: its pieces are reduced by themselves, on many threads, and joined in order.
class LongRow {
 public:
  LongRow(const Rows& rows, std::int64_t index) : rows_(rows), index_(index) {}

  Partial Get(ReduceOp op) const {
    Joined joined(op, rows_.type());
    for (const Partial& partial : Each<Partial>(
             [&](const Rows::Piece& piece) { return ReducePieces(op, rows_.type(), piece.elements, piece.n); })) {
      joined.Add(partial);
    }
    return joined.Get();
  }

  template <class F>
  double SumOf(const F& of) const {  // of(elements, n)
    CompensatedSum sum;
    for (const double part : Each<double>([&](const Rows::Piece& piece) { return of(piece.elements, piece.n); })) {
      sum.Add(part);
    }
    return sum.Get();
  }

  template <class F>
  double LeastOf(const F& of) const {  // of(elements, n); NaN if a part is
    double least = std::numeric_limits<double>::infinity();
    for (const double part : Each<double>([&](const Rows::Piece& piece) { return of(piece.elements, piece.n); })) {
      least = std::isnan(least) || least < part ? least : part;
    }
    return least;
  }

  // The first of the smallest or largest; the first NaN if there is one.
  std::int64_t Arg(ReduceOp op) const {
    struct Best {
      Partial value;
      std::int64_t at;
    };
    const Type type = rows_.type();
    const std::vector<Best> each = Each<Best>([&](const Rows::Piece& piece) {
      const Partial value = ReducePieces(op, type, piece.elements, piece.n);
      return Best{value, piece.first + FirstOf(type, piece.elements, piece.n, value)};
    });
    const Best* best = &each.front();
    for (const Best& other : each) {
      const bool beats = type == Type::kI64 ? (op == ReduceOp::kMin ? other.value.integer < best->value.integer
                                                                    : other.value.integer > best->value.integer)
                                            : !std::isnan(best->value.real) &&
                                                  (std::isnan(other.value.real) ||
                                                   (op == ReduceOp::kMin ? other.value.real < best->value.real
                                                                         : other.value.real > best->value.real));
      if (beats) best = &other;
    }
    return best->at;
  }

 private:
  template <class T, class F>
  std::vector<T> Each(const F& of) const {
    std::vector<T> results(static_cast<std::size_t>(rows_.pieces()));
    ParallelFor(
        rows_.pieces(), 1,
        [&](std::int64_t begin, std::int64_t end) {
          std::vector<char> buffer;
          for (std::int64_t i = begin; i < end; ++i) {
            results[static_cast<std::size_t>(i)] = of(rows_.PieceOf(index_, i, buffer));
          }
        },
        kGrain);
    return results;
  }

  const Rows& rows_;
  const std::int64_t index_;
};

template <class Row>
double Variance(const Row& row, Type type, std::int64_t n, double correction) {
  const double mean = row.Get(ReduceOp::kSum).real / static_cast<double>(n);
  const double squares = row.SumOf([&](const void* elements, std::int64_t count) {
    return SumOver(Level().sum_squared_distance[type == Type::kF64], type, elements, count, mean);
  });
  return squares / std::max(0.0, static_cast<double>(n) - correction);
}

template <class Row>
double LogSumExp(const Row& row, Type type, std::int64_t n) {
  if (n == 0) return -std::numeric_limits<double>::infinity();
  const double largest = row.Get(ReduceOp::kMax).real;
  if (std::isinf(largest) || std::isnan(largest)) return largest;
  return largest + std::log(row.SumOf([&](const void* elements, std::int64_t count) {
           return SumOver(Level().sum_exp[type == Type::kF64], type, elements, count, largest);
         }));
}

template <class Row>
double Norm(const Row& row, Type type, std::int64_t n, double order) {
  if (n == 0) return 0;
  if (order == 1) return row.Get(ReduceOp::kSumAbs).real;
  if (order == 0) return row.Get(ReduceOp::kCountNonZero).real;
  if (order == std::numeric_limits<double>::infinity()) return row.Get(ReduceOp::kMaxAbs).real;
  if (order == -std::numeric_limits<double>::infinity()) {
    return row.LeastOf([&](const void* elements, std::int64_t count) {
      double least = std::numeric_limits<double>::infinity();
      for (std::int64_t i = 0; i < count; ++i) {
        const double x = std::fabs(ElementAt(type, elements, i));
        least = std::isnan(least) || least < x ? least : x;
      }
      return least;
    });
  }
  const auto sum_of_powers = [&](auto power) {
    return row.SumOf([&](const void* elements, std::int64_t count) {
      double sum = 0;
      for (std::int64_t i = 0; i < count; ++i) sum += power(ElementAt(type, elements, i));
      return sum;
    });
  };
  if (order == 2) {
    const double squares = row.Get(ReduceOp::kSumSquares).real;
    // Squares of floats overflow or vanish where those of doubles do not; near the ends they are made anew.
    if (type == Type::kF64 || (squares > 1e-20 && squares < 1e37)) return std::sqrt(squares);
    return std::sqrt(sum_of_powers([](double x) { return x * x; }));
  }
  return std::pow(sum_of_powers([&](double x) { return std::pow(std::fabs(x), order); }), 1 / order);
}

ReduceOp OpOf(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kProd:
      return ReduceOp::kProd;
    case ReduceKind::kMin:
    case ReduceKind::kArgMin:
      return ReduceOp::kMin;
    case ReduceKind::kMax:
    case ReduceKind::kArgMax:
      return ReduceOp::kMax;
    case ReduceKind::kAny:
    case ReduceKind::kAll:
    case ReduceKind::kCountNonZero:
      return ReduceOp::kCountNonZero;
    default:
      return ReduceOp::kSum;
  }
}

// What the joined partial result of n elements means.
void StoreResult(ReduceKind kind, Type type, Partial partial, std::int64_t n, const PackedOutput& out,
                 std::int64_t index) {
  const bool real = type != Type::kI64;
  switch (kind) {
    case ReduceKind::kMean:
      return Store(out, index, (real ? partial.real : static_cast<double>(partial.integer)) / static_cast<double>(n));
    case ReduceKind::kAny:
      return Store(out, index, std::int64_t{real ? partial.real != 0 : partial.integer != 0});
    case ReduceKind::kAll:
      return Store(out, index, std::int64_t{real ? partial.real == static_cast<double>(n) : partial.integer == n});
    case ReduceKind::kCountNonZero:
      return Store(out, index, real ? static_cast<std::int64_t>(partial.real) : partial.integer);
    default:
      return real ? Store(out, index, partial.real) : Store(out, index, partial.integer);
  }
}

// `count` results, partial(i) at place first + i.
template <class F>
void StoreResults(ReduceKind kind, Type type, const F& partial, std::int64_t count, std::int64_t n,
                  const PackedOutput& out, std::int64_t first) {
  if (kind == ReduceKind::kSum && type == Type::kF32 && out.type == Type::kF32) {  // of many, the usual ones
    float* const to = static_cast<float*>(out.data) + first;
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(partial(i).real);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) StoreResult(kind, type, partial(i), n, out, first + i);
}

// Sums of columns, joined in double; those of doubles with what each addition loses, as Joined does.
template <class T>
class ColumnSums {
 public:
  explicit ColumnSums(std::int64_t n) : sum_(static_cast<std::size_t>(n)), lost_(sizeof(T) == 8 ? sum_.size() : 0) {}
  void Clear() {
    std::fill(sum_.begin(), sum_.end(), 0.0);
    std::fill(lost_.begin(), lost_.end(), 0.0);
  }
  void Add(const T* parts, std::int64_t n) {
    double* const sum = sum_.data();
    double* const lost = lost_.data();
    for (std::int64_t i = 0; i < n; ++i) {
      const double before = sum[i], x = parts[i], after = before + x;
      sum[i] = after;
      if constexpr (sizeof(T) == 8) {
        lost[i] += std::fabs(before) >= std::fabs(x) ? (before - after) + x : (x - after) + before;
      }
    }
  }
  Partial Get(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    Partial partial;
    partial.real = lost_.empty() || !std::isfinite(sum_[at]) ? sum_[at] : sum_[at] + lost_[at];
    return partial;
  }

 private:
  std::vector<double> sum_, lost_;
};

// Of any operation and type.
template <class T>
class ColumnPartials {
 public:
  ColumnPartials(ReduceOp op, Type type, std::int64_t n)
      : first_(op, type), joined_(static_cast<std::size_t>(n), first_) {}
  void Clear() { std::fill(joined_.begin(), joined_.end(), first_); }
  void Add(const T* parts, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      Partial partial;
      if constexpr (std::is_floating_point_v<T>) {
        partial.real = parts[i];
      } else {
        partial.integer = parts[i];
      }
      joined_[static_cast<std::size_t>(i)].Add(partial);
    }
  }
  Partial Get(std::int64_t i) const { return joined_[static_cast<std::size_t>(i)].Get(); }

 private:
  Joined first_;
  std::vector<Joined> joined_;
};

// Columns that lie side by side, reduced over rows: stripes of results are kept in the first cache. `fresh` joins the
// results of a stripe, as long as one at most.
template <class T, class Columns>
void ReduceColumns(ReduceKind kind, const Rows& rows, const PackedOutput& out, const Columns& fresh) {
  const ReduceOp op = OpOf(kind);
  const Type type = rows.type();
  const auto reduce_rows = Level().reduce_rows[Index(op)][Index(type)];
  const std::int64_t inner = rows.kept().back().size;
  const std::int64_t stripes = (inner + kStripe - 1) / kStripe;
  const Rows::Step last = rows.reduced().back();
  const std::int64_t outer = rows.length() / last.size;
  const Partial identity = Joined(op, type).Get();
  ParallelFor(
      rows.count() / inner * stripes, 1,
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<T> acc(static_cast<std::size_t>(kStripe));
        Columns columns = fresh;
        for (std::int64_t s = begin; s < end; ++s) {
          const std::int64_t first = s / stripes * inner + s % stripes * kStripe;
          const std::int64_t n = std::min(kStripe, inner - s % stripes * kStripe);
          const char* const base = rows.RowAt(first);
          columns.Clear();
          for (std::int64_t o = 0; o < outer; ++o) {
            const char* from = base;
            std::int64_t rest = o;
            for (std::size_t d = rows.reduced().size() - 1; d-- > 0;) {
              from += rest % rows.reduced()[d].size * rows.reduced()[d].stride;
              rest /= rows.reduced()[d].size;
            }
            for (std::int64_t r = 0; r < last.size; r += kRowsATime) {
              std::fill_n(
                  acc.begin(), n,
                  std::is_floating_point_v<T> ? static_cast<T>(identity.real) : static_cast<T>(identity.integer));
              reduce_rows(acc.data(), from + r * last.stride, std::min(kRowsATime, last.size - r), last.stride, n);
              columns.Add(acc.data(), n);
            }
          }
          StoreResults(
              kind, type, [&](std::int64_t i) { return columns.Get(i); }, n, rows.length(), out, first);
        }
      },
      rows.length() * std::min(kStripe, inner));
}

template <class T>
void ReduceColumnsOf(ReduceKind kind, const Rows& rows, const PackedOutput& out) {
  const ReduceOp op = OpOf(kind);
  const std::int64_t columns = std::min(kStripe, rows.kept().back().size);
  if constexpr (std::is_floating_point_v<T>) {
    if (op == ReduceOp::kSum) return ReduceColumns<T>(kind, rows, out, ColumnSums<T>(columns));
  }
  ReduceColumns<T>(kind, rows, out, ColumnPartials<T>(op, rows.type(), columns));
}

// Rows that are in place and short: many results of one call.
void ReduceShortRows(ReduceKind kind, const Rows& rows, const PackedOutput& out) {
  constexpr std::int64_t kAtATime = 64;
  const ReduceOp op = OpOf(kind);
  const auto reduce_each = Level().reduce_each[Index(op)][Index(rows.type())];
  const Rows::Step last = rows.kept().empty() ? Rows::Step{1, 0} : rows.kept().back();
  ParallelFor(
      rows.count(), std::max<std::int64_t>(1, kGrain / rows.length()),
      [&](std::int64_t begin, std::int64_t end) {
        Partial results[kAtATime];
        for (std::int64_t index = begin, n; index < end; index += n) {
          n = std::min({kAtATime, end - index, last.size - index % last.size});
          reduce_each(results, rows.RowAt(index), n, last.stride, rows.length());
          StoreResults(
              kind, rows.type(), [&](std::int64_t k) { return results[k]; }, n, rows.length(), out, index);
        }
      },
      rows.length());
}

// visit(row, index), where a row is a ShortRow or a LongRow.
template <class F>
void ForEachRow(const Rows& rows, const F& visit) {
  if (rows.length() < kWorthwhile) {
    return rows.ForEach([&](const void* elements, std::int64_t index) {
      visit(ShortRow{rows.type(), elements, rows.length()}, index);
    });
  }
  for (std::int64_t index = 0; index < rows.count(); ++index) visit(LongRow(rows, index), index);
}

bool IsPlain(ReduceKind kind) {
  return kind != ReduceKind::kNorm && kind != ReduceKind::kVar && kind != ReduceKind::kStd &&
         kind != ReduceKind::kLogSumExp && kind != ReduceKind::kArgMin && kind != ReduceKind::kArgMax;
}

template <class T>
void StoreAs(const PackedOutput& out, std::int64_t index, T value) {
  const Type from = sizeof(T) == 8 && std::numeric_limits<T>::is_integer ? Type::kI64 : Type::kF64;
  void* const data[] = {static_cast<char*>(out.data) + index * static_cast<std::int64_t>(SizeOf(out.type)), &value};
  Level().cast[Index(from)][Index(out.type)](data, 1, Parameters());
}

}  // namespace

void Store(const PackedOutput& out, std::int64_t index, double value) {
  if (out.type == Type::kF32) {
    static_cast<float*>(out.data)[index] = static_cast<float>(value);
  } else {
    StoreAs(out, index, value);
  }
}
void Store(const PackedOutput& out, std::int64_t index, std::int64_t value) { StoreAs(out, index, value); }

Partial ReduceRow(ReduceOp op, Type type, const void* row, std::int64_t n) {
  if (n < kWorthwhile) return ReducePieces(op, type, row, n);
  std::vector<Partial> partials(static_cast<std::size_t>((n + kGrain - 1) / kGrain));
  ParallelFor(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += kGrain) {
      partials[static_cast<std::size_t>(i / kGrain)] =
          ReducePieces(op, type, At(row, type, i), std::min(kGrain, end - i));
    }
  });
  Joined joined(op, type);
  for (const Partial& partial : partials) joined.Add(partial);
  return joined.Get();
}

void Reduce(ReduceKind kind, const StridedInput& in, std::span<const bool> reduced, const PackedOutput& out,
            const ReduceOptions& options) {
  const bool real_result = kind == ReduceKind::kMean || kind == ReduceKind::kNorm || kind == ReduceKind::kVar ||
                           kind == ReduceKind::kStd || kind == ReduceKind::kLogSumExp;
  Type compute = IsFloat(in.type) ? ComputeType(in.type) : Type::kI64;
  // A sum of integers that is asked for in a float is one of floats.
  if (!IsFloat(in.type) && IsFloat(out.type) && (real_result || IsFloat(out.type)) && kind != ReduceKind::kMin &&
      kind != ReduceKind::kMax) {
    compute = out.type == Type::kF64 ? Type::kF64 : Type::kF32;
  }
  if (IsFloat(in.type) && out.type == Type::kF64) compute = Type::kF64;
  if (IsFloat(in.type) && !IsFloat(out.type) && (kind == ReduceKind::kSum || kind == ReduceKind::kProd)) {
    compute = Type::kI64;
  }
  const Rows rows(in, reduced, compute);
  if (IsPlain(kind)) {
    const ReduceOp op = OpOf(kind);
    if (rows.length() == 0) {
      for (std::int64_t i = 0; i < rows.count(); ++i) StoreResult(kind, compute, Joined(op, compute).Get(), 0, out, i);
      return;
    }
    const auto item = static_cast<std::int64_t>(SizeOf(compute));
    // A product of many rows needs more digits than a column of results has.
    const bool in_columns = op != ReduceOp::kProd || compute == Type::kI64;
    if (in_columns && !rows.direct() && in.type == compute && !rows.kept().empty() &&
        rows.kept().back().stride == item && rows.kept().back().size >= 16) {
      return compute == Type::kF32   ? ReduceColumnsOf<float>(kind, rows, out)
             : compute == Type::kF64 ? ReduceColumnsOf<double>(kind, rows, out)
                                     : ReduceColumnsOf<std::int64_t>(kind, rows, out);
    }
    // ReducePieces has more to do for products of doubles.
    if (rows.direct() && rows.length() <= kPiece && (op != ReduceOp::kProd || compute != Type::kF64)) {
      return ReduceShortRows(kind, rows, out);
    }
    return ForEachRow(rows, [&](const auto& row, std::int64_t index) {
      StoreResult(kind, compute, row.Get(op), rows.length(), out, index);
    });
  }
  const std::int64_t n = rows.length();
  ForEachRow(rows, [&](const auto& row, std::int64_t index) {
    switch (kind) {
      case ReduceKind::kNorm:
        return Store(out, index, Norm(row, compute, n, options.order));
      case ReduceKind::kVar:
        return Store(out, index, Variance(row, compute, n, options.correction));
      case ReduceKind::kStd:
        return Store(out, index, std::sqrt(Variance(row, compute, n, options.correction)));
      case ReduceKind::kLogSumExp:
        return Store(out, index, LogSumExp(row, compute, n));
      default:
        return Store(out, index, row.Arg(OpOf(kind)));
    }
  });
}

void Accumulate(ReduceOp op, const StridedInput& in, std::size_t dim, const PackedOutput& out) {
  std::unique_ptr<bool[]> reduced(new bool[in.sizes.size() + 1]());
  if (!in.sizes.empty()) reduced[dim] = true;
  const Type compute = IsFloat(out.type) ? Type::kF64 : Type::kI64;
  const Rows rows(in, {reduced.get(), in.sizes.size()}, compute);
  const std::int64_t n = rows.length();
  std::int64_t inner = 1;
  for (std::size_t d = dim + 1; d < in.sizes.size(); ++d) inner *= in.sizes[d];
  const auto item = static_cast<std::int64_t>(SizeOf(out.type));
  const std::int64_t out_stride = inner * item, packed = static_cast<std::int64_t>(SizeOf(compute));
  rows.ForEach([&](const void* row, std::int64_t index) {
    std::vector<Partial> running(static_cast<std::size_t>(n));
    const auto* const from = static_cast<const Partial*>(row);
    CompensatedSum sum;
    long double product = 1;
    std::uint64_t integer = op == ReduceOp::kProd ? 1 : 0;
    for (std::int64_t i = 0; i < n; ++i) {
      Partial& result = running[static_cast<std::size_t>(i)];
      if (compute == Type::kI64) {
        const auto x = static_cast<std::uint64_t>(from[i].integer);
        integer = op == ReduceOp::kProd ? integer * x : integer + x;
        result.integer = static_cast<std::int64_t>(integer);
      } else if (op == ReduceOp::kProd) {
        product *= from[i].real;
        result.real = static_cast<double>(product);
      } else {
        sum.Add(from[i].real);
        result.real = sum.Get();
      }
    }
    char* const to = static_cast<char*>(out.data) + (index / inner * n * inner + index % inner) * item;
    Copy({&n, 1}, {to, &out_stride, out.type, out.type}, {running.data(), &packed, compute, compute});
  });
}

}  // namespace plumbline::kernels::cpu
