# Run by CPack on the files before it packs them: what Debian's policy asks of a package, and the times of files, so that
# the same sources give the same bytes ($SOURCE_DATE_EPOCH).
cmake_minimum_required(VERSION 3.22)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(write_compressed file text)
  file(WRITE ${file} "${text}")
  run(gzip -9nf ${file})
endfunction()

# FOLDER: what is below / of the package NAME.
function(make_debian folder name)
  set(share ${folder}/usr/share)
  file(GLOB pages ${share}/man/man1/*.1)
  foreach(page ${pages})
    run(gzip -9nf ${page})
  endforeach()
  if(EXISTS ${share}/zsh/site-functions)  # where Debian's zsh looks for what packages bring
    file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
  endif()
  file(GLOB archives ${folder}/usr/lib/*.a ${folder}/usr/lib/*/*.a)
  foreach(archive ${archives})
    run(strip --strip-debug --remove-section=.comment --remove-section=.note --enable-deterministic-archives ${archive})
  endforeach()
  file(COPY_FILE ${CPACK_ELFAUDIT_COPYRIGHT} ${share}/doc/${name}/copyright)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  write_compressed(${share}/doc/${name}/changelog "elfaudit (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}: CHANGELOG.md of the sources has what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  if(EXISTS ${folder}/usr/bin/elfaudit)
    # Libraries inside are the point of the portable program, which has to run on releases without them.
    file(WRITE ${share}/lintian/overrides/elfaudit "elfaudit: embedded-library *\n")
  endif()
endfunction()

if(CPACK_GENERATOR STREQUAL "DEB")
  foreach(group tool library)
    string(TOUPPER ${group} upper)
    if(EXISTS ${CPACK_TEMPORARY_DIRECTORY}/${group})
      file(MAKE_DIRECTORY ${CPACK_TEMPORARY_DIRECTORY}/${group}/usr/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
      make_debian(${CPACK_TEMPORARY_DIRECTORY}/${group} ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    endif()
  endforeach()
endif()
run(chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_DIRECTORY})
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  run(find ${CPACK_TEMPORARY_DIRECTORY} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} +)
endif()
