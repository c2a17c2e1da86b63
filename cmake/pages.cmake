# What the command makes of its own tables: manual pages of its verbs, completion for shells. Made
# when the command is, so it must run here; a cross build without an emulator has vem.1 alone. Builds
# for tests alone need none.

if(VEM_SANITIZE OR VEM_FUZZ)
    return()
endif()
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "No pages of single verbs and no completion: the command cannot run here.")
    return()
endif()

set(pages_dir ${PROJECT_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${pages_dir})
set(pages "")

# One file, whole or not at all.
function(vem_page output)
    string(JOIN " " words ${ARGN})
    add_custom_command(OUTPUT ${pages_dir}/${output}
        COMMAND sh -c "\"$1\" ${words} >\"$2.part\" && mv \"$2.part\" \"$2\"" sh
                $<TARGET_FILE:vem_command> ${pages_dir}/${output}
        DEPENDS vem_command VERBATIM)
    set(pages ${pages} ${pages_dir}/${output} PARENT_SCOPE)
endfunction()

# The verbs are listed in main.c.
file(READ cli/main.c main)
string(REGEX REPLACE ".*cli_commands\\[\\] = {([^}]*)}.*" "\\1" main "${main}")
string(REGEX MATCHALL "&cli_[a-z]+" verbs "${main}")
list(TRANSFORM verbs REPLACE "&cli_" "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cli/main.c)
foreach(verb IN LISTS verbs)
    vem_page(vem-${verb}.1 --man ${verb})
    install(FILES ${pages_dir}/vem-${verb}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endforeach()

vem_page(vem.bash --completion bash)
vem_page(_vem --completion zsh)
vem_page(vem.fish --completion fish)
add_custom_target(vem_pages ALL DEPENDS ${pages})

install(FILES ${pages_dir}/vem.bash RENAME vem
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages_dir}/_vem DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${pages_dir}/vem.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
