# Links each target's name to the program that holds all of them.
execute_process(COMMAND ${REPLAY} --list OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" names "${names}")
file(MAKE_DIRECTORY ${INTO})
foreach(name ${names})
  file(CREATE_LINK ${PROGRAM} ${INTO}/${name} SYMBOLIC)
endforeach()
