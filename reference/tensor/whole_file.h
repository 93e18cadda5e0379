// Files read and written in one piece, with errors that name the path.
//
//   std::string bytes = ReadWholeFile(path);   WriteWholeFile(path, bytes);
//
// A file is replaced as a whole: a reader, or a crash, finds the former or the new one. Any thread.
#ifndef PLUMBLINE_REFERENCE_TENSOR_WHOLE_FILE_H_
#define PLUMBLINE_REFERENCE_TENSOR_WHOLE_FILE_H_

#include <string>
#include <string_view>

namespace plumbline::reference {

std::string ReadWholeFile(const std::string& path);                    // kNotFound, or kInvalidArgument
void WriteWholeFile(const std::string& path, std::string_view bytes);  // kInvalidArgument

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_WHOLE_FILE_H_
