// Data sets in several files, in order. A path lists them one per line, or by a shell pattern
// (`parts/*.txt`), expanded in byte order of names. Where a file with exactly that name exists, the path
// means that file. Functions are safe from any thread.
#pragma once

#include <string>
#include <vector>

namespace slide {

// The files of `path`, patterns expanded, without caches. A name or pattern without a match is returned
// unchanged, for the reader to report. Never empty.
std::vector<std::string> parts_of(const std::string& path);

// The lines of `path`, patterns not expanded. Never empty.
std::vector<std::string> named_parts(const std::string& path);

// Inverse of named_parts().
std::string path_of_parts(const std::vector<std::string>& parts);

// `path` with patterns expanded.
std::string expanded(const std::string& path);

// Whether `path` lists several files, one per line.
bool names_parts(const std::string& path);

// Whether `path` is a pattern and not an existing file.
bool is_pattern(const std::string& path);

// For messages: "first.txt and 3 more", or the path itself, or "the data" where it is empty.
std::string shown_path(const std::string& path);

}  // namespace slide
