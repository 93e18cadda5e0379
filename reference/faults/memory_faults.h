// Faults against the chapter on memory: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_MEMORY_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_MEMORY_FAULTS_H_

// clang-format off
#define PLUMBLINE_MEMORY_FAULTS(X)                                                                                    \
  X(freed_bytes_stay_live, "MEM-000", "what no tensor holds any more still counts as live")                           \
  X(view_counts_again, "MEM-000", "a view counts the bytes of its storage again")                                     \
  X(view_keeps_its_storage, "MEM-000", "the storage of a view never goes")                                            \
  X(growth_keeps_the_old_block, "MEM-000", "a storage that grows keeps the block that was too small")                 \
  X(failed_allocation_is_live, "MEM-000", "an allocation that fails counts as live")                                  \
  X(meta_tensors_count, "MEM-000", "a tensor on meta counts as live on the CPU")                                      \
  X(peak_falls, "MEM-001", "the peak falls with what is live")                                                        \
  X(peak_is_of_one_block, "MEM-001", "the peak is the largest block, not the most that was live at once")             \
  X(peak_is_of_all_blocks, "MEM-001", "the peak is what was allocated in all")                                        \
  X(failed_allocation_makes_the_peak, "MEM-001", "an allocation that fails counts for the peak")                      \
  X(reset_makes_the_peak_zero, "MEM-001", "a reset makes the peak 0")                                                 \
  X(peak_is_never_reset, "MEM-001", "a reset leaves the peak as it is")                                               \
  X(kept_counts_as_live, "MEM-002", "what is kept for later counts as live")                                          \
  X(emptied_cache_keeps_small_blocks, "MEM-002", "emptying the cache gives back large blocks only")                   \
  X(emptied_cache_keeps_large_blocks, "MEM-002", "emptying the cache gives back small blocks only")                   \
  X(views_are_not_told, "MEM-003", "the report of holders leaves views out")                                          \
  X(dlpack_copies, "MEM-010", "a tensor taken from DLPack has a copy of the memory")                                  \
  X(dlpack_forgets_the_strides, "MEM-010", "what is handed to DLPack has the strides of rows")                        \
  X(dlpack_forgets_the_byte_offset, "MEM-010", "a tensor taken from DLPack begins at the start of its memory")        \
  X(dlpack_needs_strides, "MEM-010", "DLPack without strides gives strides of 0")                                     \
  X(deleter_never_runs, "MEM-011", "the deleter of what was taken from DLPack never runs")                            \
  X(deleter_runs_twice, "MEM-011", "the deleter of what was taken from DLPack runs twice")                            \
  X(deleter_runs_at_once, "MEM-011", "the deleter of what was taken from DLPack runs while a tensor still holds it")  \
  X(handed_out_never_goes, "MEM-011", "the tensor that was handed to DLPack is held for ever")                        \
  X(refused_capsule_is_deleted, "MEM-012", "the deleter of what is refused from DLPack runs")                         \
  X(lanes_are_not_looked_at, "MEM-012", "a DLPack dtype with lanes is taken for one without")                         \
  X(code_is_not_looked_at, "MEM-012", "a DLPack dtype of unknown code is taken for a float")                          \
  X(unknown_dlpack_device_is_the_cpu, "MEM-012", "a DLPack device that is not there is taken for the CPU")            \
  X(negative_dlpack_strides_are_zero, "MEM-012", "negative strides of DLPack are taken for 0")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_MEMORY_FAULTS_H_
