// What an audit of files does not need, this process gives up before it reads the first one: starting programs, connecting to
// others, writing anywhere but where it was told to. What hostile bytes might still make of it is bounded by the kernel then.
#pragma once

#include <string>
#include <vector>

namespace elfaudit {

/// From here on, in this thread and those that it starts, by Landlock (https://docs.kernel.org/userspace-api/landlock.html,
/// Linux 5.13; connections from 6.7 on). `files` are written in their folders, where temporary files are made and renamed;
/// `folders` with all below. Where the kernel can't do it, or one of them is not there, nothing is given up.
void give_up_all_but(const std::vector<std::string>& files, const std::vector<std::string>& folders);

}  // namespace elfaudit
