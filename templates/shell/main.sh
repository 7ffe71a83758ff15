# The tools of this package: one function each. spark-tool.json describes them.
# shellcheck shell=sh source=spark_tool.sh disable=SC2154

. ./spark_tool.sh

tool_greet() {
  case $input_name in *[![:space:]]*) ;; *) fail BLANK_NAME 'the name has no visible character' ;; esac
  case $input_language in
    de) hello=Hallo ;;
    es) hello=Hola ;;
    fr) hello=Bonjour ;;
    ja) hello=こんにちは ;;
    *) hello=Hello ;;
  esac
  put_string greeting "$hello, $input_name${GREETING_END-!}"
}

tool_add_note() {
  [ -n "${SPARK_TOOL_DATA_DIR-}" ] || fail NO_DATA_FOLDER 'this host names no folder that the tool may write to'
  notes=$SPARK_TOOL_DATA_DIR/notes.jsonl
  to_json "$input_text"
  printf '%s\n' "$json" >>"$notes" || fail NOT_WRITTEN "can't write to $notes"
  count=0
  while read -r _; do count=$((count + 1)); done <"$notes"
  log debug "notes in $notes: $count"
  put_string text "$input_text"
  put_json count "$count"
}

serve greet add_note
