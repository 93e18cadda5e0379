// kernels-beside-torch: times CPU kernels beside libtorch's, in one process and turn by turn, on one thread.
//
//   OPENBLAS_NUM_THREADS=1 kernels-beside-torch            # all
//   OPENBLAS_NUM_THREADS=1 kernels-beside-torch exp 100000 # those whose name holds "exp", one size
//
// A figure is the least thread CPU time of many runs, so that other load on the machine hardly shows. `goal` is how
// many times libtorch's speed is wanted; the exit status is 1 if one is missed.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/normalize.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/thread_pool.h"

namespace {

using namespace plumbline::kernels::cpu;  // NOLINT: a program of one file

double Now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct Measured {
  double ours = HUGE_VAL, torch = HUGE_VAL;
};

Measured Measure(const std::function<void()>& ours, const std::function<void()>& torch, double seconds) {
  Measured best;
  const auto time = [](const std::function<void()>& f, int repeats) {
    const double begin = Now();
    for (int i = 0; i < repeats; ++i) f();
    return (Now() - begin) / repeats;
  };
  ours(), torch();
  const int repeats = std::clamp(static_cast<int>(2e5 / time(torch, 3)), 1, 10000);
  const double end = Now() + seconds * 1e9;
  for (int round = 0; round < 5 || Now() < end; ++round) {
    best.ours = std::min(best.ours, time(ours, repeats));
    best.torch = std::min(best.torch, time(torch, repeats));
  }
  return best;
}

struct Options {
  std::string filter;
  std::int64_t size = 0;
  bool missed = false;
};

void Report(Options& options, const char* name, std::int64_t n, double goal, const std::function<void()>& ours,
            const std::function<void()>& torch) {
  if (std::string(name).find(options.filter) == std::string::npos) return;
  if (options.size != 0 && options.size != n) return;
  Measured best = Measure(ours, torch, 0.3);
  // A miss is looked at once more, longer.
  if (best.torch / best.ours < goal) {
    const Measured again = Measure(ours, torch, 1.5);
    best = {std::min(best.ours, again.ours), std::min(best.torch, again.torch)};
  }
  const double ratio = best.torch / best.ours;
  const bool missed = ratio < goal;
  options.missed = options.missed || missed;
  std::printf("%-24s %9ld  ours %11.1f us  torch %11.1f us  %5.2fx  goal %4.2fx%s\n", name, n, best.ours / 1e3,
              best.torch / 1e3, ratio, goal, missed ? "  MISSED" : "");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (argc > 1) options.filter = argv[1];
  if (argc > 2) options.size = std::atoll(argv[2]);
  at::set_num_threads(1);
  SetThreads(1);
  const LevelTable& level = Level();
  std::printf("level %s\n", level.name);
  const std::size_t kItems[] = {4, 4, 4, 4};
  Parameters one;
  one.real[0] = 1;
  for (const std::int64_t n : {std::int64_t{100000}, std::int64_t{10000000}}) {
    const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
    at::Tensor a = at::randn({n}), b = at::randn({n}), out = at::empty({n});
    const auto p = [](const at::Tensor& t) { return t.data_ptr(); };
    const auto unary = [&](const char* name, UnaryOp op, double goal, auto torch, at::Tensor in) {
      Report(
          options, name, n, goal,
          [&, in] {
            void* const data[] = {p(out), p(in)};
            RunContiguous(data, kItems, 2, n, level.unary[Index(op)][Index(Type::kF32)], one, IsCheap(op));
          },
          [&, in] { torch(out, in); });
    };
    const auto binary = [&](const char* name, BinaryOp op, double goal, auto torch) {
      Report(
          options, name, n, goal,
          [&] {
            void* const data[] = {p(out), p(a), p(b)};
            RunContiguous(data, kItems, 3, n, level.binary[Index(op)][Index(Type::kF32)], one, IsCheap(op));
          },
          [&] { torch(out, a, b); });
    };
    binary("add", BinaryOp::kAdd, 1, [](auto& o, auto& x, auto& y) { at::add_out(o, x, y); });
    binary("mul", BinaryOp::kMul, 1, [](auto& o, auto& x, auto& y) { at::mul_out(o, x, y); });
    binary("div", BinaryOp::kDiv, 1, [](auto& o, auto& x, auto& y) { at::div_out(o, x, y); });
    binary("maximum", BinaryOp::kMaximum, 1, [](auto& o, auto& x, auto& y) { at::maximum_out(o, x, y); });
    binary("pow", BinaryOp::kPow, 1, [](auto& o, auto& x, auto& y) { at::pow_out(o, x, y); });
    at::Tensor positive = a.abs() + 1e-3;
    unary(
        "relu", UnaryOp::kRelu, 1, [](auto& o, auto& x) { at::clamp_min_out(o, x, 0); }, a);
    unary(
        "neg", UnaryOp::kNeg, 1, [](auto& o, auto& x) { at::neg_out(o, x); }, a);
    unary(
        "sqrt", UnaryOp::kSqrt, 1, [](auto& o, auto& x) { at::sqrt_out(o, x); }, positive);
    unary(
        "exp", UnaryOp::kExp, 1, [](auto& o, auto& x) { at::exp_out(o, x); }, a);
    unary(
        "log", UnaryOp::kLog, 1, [](auto& o, auto& x) { at::log_out(o, x); }, positive);
    unary(
        "sigmoid", UnaryOp::kSigmoid, 1, [](auto& o, auto& x) { at::sigmoid_out(o, x); }, a);
    unary(
        "tanh", UnaryOp::kTanh, 2, [](auto& o, auto& x) { at::tanh_out(o, x); }, a);
    unary(
        "sin", UnaryOp::kSin, 1, [](auto& o, auto& x) { at::sin_out(o, x); }, a);
    unary(
        "erf", UnaryOp::kErf, 1, [](auto& o, auto& x) { at::erf_out(o, x); }, a);
    unary(
        "silu", UnaryOp::kSilu, 1, [](auto& o, auto& x) { at::silu_out(o, x); }, a);
    unary(
        "gelu", UnaryOp::kGelu, 1, [](auto& o, auto& x) { at::gelu_out(o, x); }, a);

    const std::int64_t square = side * side;
    at::Tensor x = at::randn({side, side}), y = at::randn({side, side}), z = at::empty({side, side});
    at::Tensor row = at::randn({side}), column = at::randn({side, 1}), sums = at::empty({side}), total = at::empty({});
    const std::int64_t sizes[] = {side, side}, normal[] = {side * 4, 4}, transposed[] = {4, side * 4}, rows[] = {0, 4},
                       columns[] = {4, 0};
    const auto strided = [&](const char* name, double goal, void* other, const std::int64_t* strides, at::Tensor t) {
      Report(
          options, name, square, goal,
          [&, other, strides] {
            const Operand operands[] = {{p(z), normal, Type::kF32, Type::kF32},
                                        {p(x), normal, Type::kF32, Type::kF32},
                                        {other, strides, Type::kF32, Type::kF32}};
            RunElementwise({sizes, operands, level.binary[Index(BinaryOp::kAdd)][Index(Type::kF32)], one});
          },
          [&, t] { at::add_out(z, x, t); });
    };
    strided("add transposed", 3, p(y), transposed, y.t());
    strided("add row", 1, p(row), rows, row);
    strided("add column", 1, p(column), columns, column);
    at::Tensor i32 = at::empty({n}, at::kInt), f64 = at::empty({n}, at::kDouble), half = at::empty({n}, at::kHalf);
    const auto cast = [&](const char* name, Type to, at::Tensor t) {
      Report(
          options, name, n, 1,
          [&, to, t] {
            const std::size_t items[] = {SizeOf(to), 4};
            void* const data[] = {p(t), p(a)};
            RunContiguous(data, items, 2, n, level.cast[Index(Type::kF32)][Index(to)], one);
          },
          [&, t] { t.copy_(a); });
    };
    cast("copy", Type::kF32, out);
    cast("cast to int32", Type::kI32, i32);
    cast("cast to float64", Type::kF64, f64);
    cast("cast to float16", Type::kF16, half);
    Report(
        options, "copy transposed", square, 1,
        [&] {
          Copy(sizes, {p(z), normal, Type::kF32, Type::kF32}, {p(y), transposed, Type::kF32, Type::kF32});
        },
        [&] { z.copy_(y.t()); });
    const std::int64_t flat[] = {n}, unit[] = {4};
    const bool all[] = {true, true}, first[] = {true, false}, last[] = {false, true};
    Report(
        options, "sum", n, 1.2,
        [&] {
          Reduce(ReduceKind::kSum, {flat, unit, Type::kF32, p(a)}, {all, 1}, {p(total), Type::kF32});
        },
        [&] { at::sum_out(total, a, at::IntArrayRef{0}); });
    Report(
        options, "max", n, 1,
        [&] {
          Reduce(ReduceKind::kMax, {flat, unit, Type::kF32, p(a)}, {all, 1}, {p(total), Type::kF32});
        },
        [&] { at::amax_out(total, a); });
    Report(
        options, "sum dim 0", square, 1.2,
        [&] {
          Reduce(ReduceKind::kSum, {sizes, normal, Type::kF32, p(x)}, first, {p(sums), Type::kF32});
        },
        [&] { at::sum_out(sums, x, at::IntArrayRef{0}); });
    Report(
        options, "sum dim 1", square, 1.2,
        [&] {
          Reduce(ReduceKind::kSum, {sizes, normal, Type::kF32, p(x)}, last, {p(sums), Type::kF32});
        },
        [&] { at::sum_out(sums, x, at::IntArrayRef{1}); });
    Report(
        options, "var dim 1", square, 1,
        [&] {
          Reduce(ReduceKind::kVar, {sizes, normal, Type::kF32, p(x)}, last, {p(sums), Type::kF32});
        },
        [&] { at::var_out(sums, x, at::IntArrayRef{1}); });
    Report(
        options, "softmax dim 1", square, 1.2,
        [&] {
          Softmax(false, {sizes, normal, Type::kF32, p(x)}, 1, {p(z), Type::kF32});
        },
        [&] { at::_softmax_out(z, x, 1, false); });
    Report(
        options, "softmax dim 0", square, 1.2,
        [&] {
          Softmax(false, {sizes, normal, Type::kF32, p(x)}, 0, {p(z), Type::kF32});
        },
        [&] { at::_softmax_out(z, x, 0, false); });
    Report(
        options, "log_softmax dim 1", square, 1,
        [&] {
          Softmax(true, {sizes, normal, Type::kF32, p(x)}, 1, {p(z), Type::kF32});
        },
        [&] { at::_log_softmax_out(z, x, 1, false); });
    at::Tensor weight = at::randn({side}), bias = at::randn({side});
    Report(
        options, "layer_norm", square, 1,
        [&] {
          LayerNorm({sizes, normal, Type::kF32, p(x)}, 1, p(weight), p(bias), 1e-5, {p(z), Type::kF32}, nullptr,
                    nullptr);
        },
        [&] { at::native_layer_norm_out(z, sums, total, x, {side}, weight, bias, 1e-5); });
  }
  for (const std::int64_t n : {8, 32, 100, 256, 512, 1024}) {
    at::Tensor a = at::randn({n, n}), b = at::randn({n, n}), c = at::empty({n, n});
    Report(
        options, "mm", n, n >= 256 ? 0.97 : 0.9,
        [&] {
          Gemm(Type::kF32, {n, n, n}, {a.data_ptr(), n, 1}, {b.data_ptr(), n, 1}, c.data_ptr(), {1, 1}, {0, 0});
        },
        [&] { at::mm_out(c, a, b); });
  }
  return options.missed ? 1 : 0;
}
