# The man page and the completions of bash, zsh and fish, written by the program itself from the options that it takes.
# A program for another machine can't be asked, unless there is an emulator.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "Cross-compiling: no man page and no completions")
  return()
endif()

set(interface ${PROJECT_BINARY_DIR}/generated/interface)
file(MAKE_DIRECTORY ${interface})
set(interface_files "")
foreach(kind man bash zsh fish)
  add_custom_command(OUTPUT ${interface}/elfaudit.${kind}
    COMMAND elfaudit_program --generate ${kind} > ${interface}/elfaudit.${kind}
    DEPENDS elfaudit_program VERBATIM)
  list(APPEND interface_files ${interface}/elfaudit.${kind})
endforeach()
add_custom_target(elfaudit_interface ALL DEPENDS ${interface_files})

install(FILES ${interface}/elfaudit.man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME elfaudit.1 COMPONENT interface)
install(FILES ${interface}/elfaudit.bash DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions RENAME elfaudit COMPONENT interface)
install(FILES ${interface}/elfaudit.zsh DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions RENAME _elfaudit COMPONENT interface)
install(FILES ${interface}/elfaudit.fish DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d COMPONENT interface)
