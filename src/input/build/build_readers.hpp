// The kinds of build files that a BuildGraph is filled from. Each throws InputError for a file that can't be read.
#pragma once

#include <string>

#include "input/build/build_graph.hpp"

namespace elfaudit {

/// FOLDER/build.ninja and what it includes.
void read_ninja_links(const std::string& folder, BuildGraph& graph);

/// Of these only what makes static libraries: a large build has tens of thousands of other steps.
void read_ninja_archives(const std::string& folder, BuildGraph& graph);

/// What CMake's Makefile generators leave in FOLDER: CMakeFiles/TargetDirectories.txt lists a folder for each target,
/// in which link.txt, and dlink.txt for CUDA, hold its link commands. CMakeFiles/Makefile2 says what "all" makes.
/// (CMake: cmMakefileTargetGenerator.cxx, cmGlobalUnixMakefileGenerator3.cxx)
void read_make_links(const std::string& folder, BuildGraph& graph);

/// The targets that CMake's File API names, when something has asked for it (an IDE does): the reply's codemodel, which
/// has the file that each target makes. A reply that can't be read is passed over: the names in it are only more names.
/// (cmake-file-api(7), "codemodel" version 2)
void read_cmake_names(const std::string& folder, BuildGraph& graph);

}  // namespace elfaudit
