#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace elfaudit {

/// What is wrong with a command line that CLI11 has refused, and what would be right: one or two lines.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace elfaudit
