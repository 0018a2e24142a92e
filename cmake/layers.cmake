# The folders of src in layers, the lowest first. A folder is an object library of its own that sees only itself and the
# layers below: an include upward or sideways is "No such file", because the folder that its compiler searches
# (build/layers/NAME) holds links to nothing else. docs/architecture.md has the picture; tests/cli/test_layers.py holds
# this list against the includes.
set(ELFAUDIT_LAYERS
  "support"
  "target"
  "facts"
  "elf"
  "input scan/device"
  "input/build locate/dwarf locate/source scan"
  "load locate/providers locate/record package resolve"
  "locate/fix"
  "locate/cause"
  "divergence left_out ship stale"
  "rules"
  "locate rules/gpu rules/loading rules/shipping rules/silent"
  "rules/python"
  "audit report"
  "compare diagnose gate listing"
  "cli")

# Links the headers of src/FOLDER into build/layers/NAME: each by itself, since a folder may lie in one that must not see
# it (input/build in input).
function(elfaudit_show_headers name folder)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src
    src/${folder}/*.hpp src/${folder}/*.def)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/layers/${name}/${folder})
  foreach(header ${headers})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${header} ${PROJECT_BINARY_DIR}/layers/${name}/${header} SYMBOLIC)
  endforeach()
endfunction()

# Makes the object libraries elfaudit_FOLDER, in ELFAUDIT_OBJECTS. `settings`: the target whose options they take.
macro(elfaudit_add_layers settings)
  file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/layers)
  set(ELFAUDIT_OBJECTS)
  set(below)
  foreach(layer ${ELFAUDIT_LAYERS})
    string(REPLACE " " ";" folders ${layer})
    foreach(folder ${folders})
      string(REPLACE "/" "_" name ${folder})
      foreach(shown ${below} ${folder})
        elfaudit_show_headers(${name} ${shown})
      endforeach()
      file(GLOB sources CONFIGURE_DEPENDS src/${folder}/*.cpp)
      add_library(elfaudit_${name} OBJECT ${sources})
      target_include_directories(elfaudit_${name} PRIVATE ${PROJECT_BINARY_DIR}/layers/${name})
      target_link_libraries(elfaudit_${name} PRIVATE ${settings})
      list(APPEND ELFAUDIT_OBJECTS elfaudit_${name})
    endforeach()
    list(APPEND below ${folders})
  endforeach()
endmacro()
