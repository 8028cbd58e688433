# Has PROGRAM write its manual page and completions into FOLDER: slide.1, bash, zsh and fish.
# usage: cmake -DPROGRAM=... -DFOLDER=... -P shell_files.cmake
function(say_into file)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE error RESULT_VARIABLE code)
  if(code EQUAL 0)
    file(WRITE ${FOLDER}/${file} "${text}")
  else()
    message(FATAL_ERROR "${PROGRAM} ${ARGN}: ${error}")
  endif()
endfunction()

say_into(slide.1 man)
foreach(shell bash zsh fish)
  say_into(${shell} completion ${shell})
endforeach()
file(TOUCH ${FOLDER}/made)
