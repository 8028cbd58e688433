// Several files that are one data set: its parts, in their order. A path names them one a line, or by a
// pattern of the shell (`parts/*.txt`), whose files are in the order of the bytes of their names. Where there
// is a file of the very name, the path means that file alone. Functions are safe to call from any thread.
#pragma once

#include <string>
#include <vector>

namespace slide {

// The files that `path` names, of patterns those that are there, without caches. One that names nothing that
// is there stays as it is, for whoever opens it to tell. Never empty.
std::vector<std::string> parts_of(const std::string& path);

// The lines of `path`, patterns and all. Never empty.
std::vector<std::string> named_parts(const std::string& path);

// The other way: the path that names these.
std::string path_of_parts(const std::vector<std::string>& parts);

// The same files without patterns.
std::string expanded(const std::string& path);

// Whether `path` names several files, one a line.
bool names_parts(const std::string& path);

// Whether `path` is a pattern, and no file that is there.
bool is_pattern(const std::string& path);

// For people: "first.txt and 3 more", or the path itself, or "the data" where there is none.
std::string shown_path(const std::string& path);

}  // namespace slide
