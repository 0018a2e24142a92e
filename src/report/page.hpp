// The page of --format html without its data. Generated from src/report/page/ when the program is built.
#pragma once

namespace elfaudit {

extern const char* const kPageHead;  ///< up to where the JSON document stands
extern const char* const kPageTail;  ///< what follows it

}  // namespace elfaudit
