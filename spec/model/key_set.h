// A key set as the spec has it: functionality bits and component bits, nothing else.
//
// It is a cross product, not a list of keys: {CPU, AutogradCUDA} is {Dense, Autograd} x {CPU, CUDA}, and so holds CUDA
// and AutogradCPU as well. Which key a pair of bits is, and their order, is the business of KeyTable.
//
//   KeySet effective = Without(Union(arguments, included), excluded);
//
// Plain value; any thread.
#ifndef PLUMBLINE_SPEC_MODEL_KEY_SET_H_
#define PLUMBLINE_SPEC_MODEL_KEY_SET_H_

#include <bitset>

namespace plumbline::model {

struct KeySet {
  std::bitset<128> functionalities;  // bit i: the i-th functionality of the table, lowest priority first
  std::bitset<64> components;        // bit i: the i-th component

  friend bool operator==(const KeySet&, const KeySet&) = default;
};

// All bits of both.
inline KeySet Union(const KeySet& a, const KeySet& b) {
  return {a.functionalities | b.functionalities, a.components | b.components};
}

// `a` without the functionalities of `b`. The components of `a` stay: taking {CPU} from {CPU, CUDA} leaves no key,
// for both lose the functionality that they share.
inline KeySet Without(const KeySet& a, const KeySet& b) {
  return {a.functionalities & ~b.functionalities, a.components};
}

// The bits of `a` that `b` lacks, of both sorts: what a guard adds, and takes back.
inline KeySet Missing(const KeySet& a, const KeySet& b) {
  return {a.functionalities & ~b.functionalities, a.components & ~b.components};
}

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_KEY_SET_H_
