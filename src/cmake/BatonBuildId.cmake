# Writes OUTPUT, which has baton_build_id(): a hash of the library's sources under ROOT, by name and content. A script
# (cmake -P), run when one of FILES, relative to ROOT, has changed.
set(text "")
foreach(file IN LISTS FILES)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND text "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${text}")
string(SUBSTRING ${hash} 0 16 id)
file(WRITE ${OUTPUT} "#include \"baton/baton.h\"\n\nconst char *baton_build_id(void) { return \"${id}\"; }\n")
