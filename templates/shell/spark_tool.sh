# Speaks spark-tool-process-v1 over stdin and stdout, so that a tool is a shell function. It is yours: change it freely.
#
#     . ./spark_tool.sh
#     tool_greet() { put_string greeting "Hello, $input_name!"; }
#     serve greet
#
# A tool `add-note` is the function tool_add_note. It finds its input, checked and with defaults filled in, in variables:
# $input_NAME for each member whose name could be a variable's; strings as text, all else as JSON. $input is the whole
# as JSON, $context what the host says about the call. What it gives:
#
#     put_string KEY TEXT       one member of the result
#     put_json KEY JSON         one that is JSON already: a number, true, an array
#     to_json TEXT              sets $json to the text as a JSON string
#     fail CODE MESSAGE         answers with an error and ends the tool
#     log LEVEL MESSAGE         debug, info, warn or error
#     progress 0.5 MESSAGE      from 0 to 1
#
# A tool that returns or exits with another status than 0 has failed. What it prints goes to the host's log.
#
# POSIX sh and no other program: tried with dash, bash, busybox and ksh93. That has its limits:
# - One call at a time; others wait their turn. A cancelled tool ends before its next command, not within one, and hears
#   of it only if no other call waits. At the end of stdin it is killed; a
#   program that it has started is for the host to stop.
# - No NUL in a text: the call is refused. What is put has to be UTF-8, or JSON where it says so; no key twice.
# - A text of 100 KB takes no time, or seconds where all of it is escapes. A megabyte takes seconds.
# - `fail` within $(…) or a pipeline ends that part alone. No capability requests.
#
# shellcheck shell=sh disable=SC2034,SC2046,SC2086,SC2141,SC2154

# Frames have descriptors of their own; whatever else reads or prints meets /dev/null and stderr.
exec 4<&0 0</dev/null 3>&1 1>&2

# Bytes, not characters, until a tool runs: in some languages half a character looks like a backslash.
_host_locale=${LC_ALL-}
LC_ALL=C
_newline='
'
_name_characters() {
  _tab=$1 _return=$2 _backspace=$3 _feed=$4
  _controls=$5 # what JSON never has as it is, but newline and tab, which are special to IFS
  _later=$6    # bytes of a character after its first
  _first=$7    # its first, if it has more than one
}
IFS=' '
_name_characters $(printf '%b ' '\0011' '\0015' '\0010' '\0014' \
  '\0001\0002\0003\0004\0005\0006\0007\0010\0013\0014\0015\0016\0017\0020\0021\0022\0023\0024\0025\0026\0027\0030\0031\0032\0033\0034\0035\0036\0037' \
  '\0200-\0277' '\0300-\0377')
_ifs=" $_tab$_newline"
IFS=$_ifs
_mark=${_controls%"${_controls#?}"} # stands for an escaped quote while an object is taken apart

# Answers frames until the host says `shutdown` or closes stdin. Takes the names of the tools.
serve() {
  [ ! -t 4 ] || echo 'This program talks to a host in JSON lines. Try: spark-tool test'
  _job=
  while IFS= read -r _line <&4; do
    _type='' _request='' _invocation='' _tool='' input='{}' context='{}'
    _each_member "$_line" _on_frame_member
    case $_type in
      initialize) _send ready "$_request" '' ;;
      invoke)
        [ -z "$_job" ] || wait "$_job" 2>/dev/null
        _running=$_invocation
        trap '' TERM # so that it can't end the call before that listens
        _call "$@" 4<&- &
        _job=$!
        trap - TERM
        ;;
      cancel) [ "$_invocation" != "${_running-}" ] || kill "$_job" 2>/dev/null ;;
      shutdown) break ;;
    esac
  done
  # A tool that loops must not outlive its host, which waits for no answer now.
  [ -z "$_job" ] || kill -KILL "$_job" 2>/dev/null
  exit 0
}

_on_frame_member() {
  case $1 in
    type) _text "$2" && _type=$text ;;
    requestId) _request=$2 ;; # these two are only ever sent back: they stay JSON
    invocationId) _invocation=$2 ;;
    toolName) _text "$2" && _tool=$text ;;
    input) input=$2 ;;
    context) context=$2 ;;
  esac
}

# One call, in a process of its own: a tool can exit, change folders or set what it likes.
_call() {
  _members='' _code=''
  trap 'fail CANCELLED "the call was cancelled"' TERM
  trap '_answer "$?"' EXIT
  for _name in "$@"; do
    [ "$_name" = "$_tool" ] || continue
    _replace "$_tool" - _
    _function=tool_$replaced
    _each_member "$input" _on_input_member
    _use_locale_of_host
    "$_function"
    exit "$?"
  done
  fail UNKNOWN_TOOL "there is no tool $_tool"
}

_on_input_member() {
  case $1 in '' | [0-9]* | *[!A-Za-z0-9_]*) return ;; esac
  _text "$2" || fail BAD_INPUT "a shell can't hold the NUL in $1"
  eval "input_$1=\$text"
}

# Takes the status with which the tool ended.
_answer() {
  trap '' TERM
  trap - EXIT
  LC_ALL=C
  _frame="{${_members#,}}"
  if [ -z "$_code" ] && [ "$1" -ne 0 ]; then
    _code=TOOL_FAILED _message="the tool ended with status $1"
  elif [ -z "$_code" ] && [ "${#_frame}" -gt 4190000 ]; then # 4 MiB without what is around it
    _code=BAD_RESULT _message="${#_frame} bytes are too many, a frame has at most 4194304"
  fi
  if [ -n "$_code" ]; then
    _cut "$_message" 4000
    to_json "$cut"
    _message=$json
    _cut "$_code" 160
    to_json "$cut"
    _send error "$_request" ",\"invocationId\":$_invocation,\"code\":$json,\"message\":$_message"
  else
    _send result "$_request" ",\"invocationId\":$_invocation,\"result\":$_frame"
  fi
  exit 0
}

put_string() {
  to_json "$1"
  _key=$json
  to_json "$2"
  _members="$_members,$_key:$json"
}

put_json() {
  to_json "$1"
  _members="$_members,$json:$2"
}

fail() {
  _code=${1:-TOOL_FAILED} _message=${2:-no message}
  exit 1
}

log() {
  case $1 in debug | info | warn | error) _level=$1 ;; *) _level=info ;; esac
  _tell log "$2" 32000 ",\"level\":\"$_level\""
}

progress() {
  case $1 in 0 | 1 | 0.*[!0-9]* | 0.) _done=${1%%.*} ;; 0.*) _done=$1 ;; *) _done=1 ;; esac
  _tell progress "${2-}" 4000 ",\"progress\":$_done"
}

# _tell TYPE MESSAGE BYTES MORE
_tell() {
  trap '' TERM # a frame is written whole
  LC_ALL=C
  _cut "$2" "$3"
  to_json "$cut"
  _send "$1" "\"$1\"" ",\"invocationId\":$_invocation,\"message\":$json$4"
  _use_locale_of_host
  trap 'fail CANCELLED "the call was cancelled"' TERM
}

_use_locale_of_host() {
  if [ -n "$_host_locale" ]; then LC_ALL=$_host_locale; else unset LC_ALL; fi
}

# _send TYPE REQUEST MORE: hosts check of `sequence` that it is there.
_send() {
  printf '%s\n' "{\"protocolVersion\":\"spark-tool-process-v1\",\"type\":\"$1\",\"requestId\":$2,\"sequence\":0$3}" >&3
}

# ---- JSON ----
#
# A shell copies the whole of a text to take one character off it. So texts are taken apart by IFS, all at once, and put
# together in two steps, parts of some hundred pieces and then the whole: no text takes time by its square.

# _each_member OBJECT FUNCTION: calls FUNCTION KEY VALUE for each member, VALUE as JSON. The object is taken to be right.
_each_member() {
  _object=$1 _visit=$2
  case $_object in *\\*) _mark_quotes "$_object" && _object=$marked ;; esac
  set -f
  IFS='"'
  set -- $_object
  IFS=$_ifs
  # Now every other piece is a string, and what is between them has no text.
  _state=key _is_string=''
  for _piece in "$@"; do
    case $_state$_is_string in
      key1) _key=$_piece _state=colon ;;
      colon)
        _value='' _part=${_piece#*:} _pieces=1 _depth=0
        case $_part in
          *[!" $_tab$_return"]*) _state=value && _end_of_value ;;
          *) _state=string ;;
        esac
        ;;
      string1) _value="\"$_piece\"" && _member ;;
      value1) _more_value "\"$_piece\"" ;;
      value) _more_value "$_piece" && _end_of_value ;;
    esac
    case $_is_string in 1) _is_string='' ;; *) _is_string=1 ;; esac
  done
  set +f
}

_more_value() {
  _part=$_part$1 _pieces=$((_pieces + 1))
  [ "$_pieces" -lt 200 ] || { _value=$_value$_part _part='' _pieces=0; }
}

# A value that isn't a string is over when all it opened is closed; the comma or brace behind it isn't its own.
_end_of_value() {
  case $_piece in
    *[]\[{}]*)
      _depth_of "$_piece"
      _depth=$((_depth + depth))
      ;;
  esac
  [ "$_depth" -le 0 ] || return 0
  _value=$_value$_part
  _trim
  _value=${_value%?}
  _trim
  while case $_value in [" $_tab$_return"]*) ;; *) false ;; esac do _value=${_value#?}; done
  _member
}

_trim() {
  while case $_value in *[" $_tab$_return"]) ;; *) false ;; esac do _value=${_value%?}; done
}

_member() {
  _state=key
  case $_value in *"$_mark"*) _replace "$_value" "$_mark" '"' && _value=$replaced ;; esac
  case $_key in *\\*) _replace "$_key" "$_mark" '"' && _text "\"$replaced\"" && _key=$text ;; esac
  "$_visit" "$_key" "$_value"
}

# Sets $depth to how many more brackets are opened than closed.
_depth_of() {
  _object=$1.
  set -f
  IFS='{['
  set -- $_object
  depth=$#
  IFS='}]'
  set -- $_object
  depth=$((depth - $#))
  IFS=$_ifs
}

# Sets $marked to the text with each escaped quote as a backslash and a mark. Between backslashes, a piece starts with
# what is escaped, unless an escaped backslash is before it.
_mark_quotes() {
  _object=$1
  set -f
  IFS=\\
  set -- $_object
  IFS=$_ifs
  marked='' _part=$1 _pieces=0 _is_escape=1
  shift
  for _piece in "$@"; do
    case $_is_escape:$_piece in
      1:) _is_escape='' ;;
      1:\"*) _piece=$_mark${_piece#?} ;;
      1:*) ;;
      *) _is_escape=1 ;;
    esac
    _part=$_part\\$_piece _pieces=$((_pieces + 1))
    [ "$_pieces" -lt 200 ] || { marked=$marked$_part _part='' _pieces=0; }
  done
  marked=$marked$_part
}

# Sets $text to what a JSON string says, or to any other value as it is. Fails if a NUL is in it.
_text() {
  case $1 in
    \"*\\*) ;;
    \"*)
      text=${1#?}
      text=${text%?}
      return 0
      ;;
    *)
      text=$1
      return 0
      ;;
  esac
  text=$1
  set -f
  IFS=\\
  set -- $text
  set +f
  IFS=$_ifs
  text='' _part=${1#?} _pieces=0 _is_escape=1 _high=''
  shift
  for _piece in "$@"; do
    case $_is_escape:$_piece in
      1:) _part=$_part\\ _is_escape='' ;;
      1:u*)
        _unicode "${_piece#?}" || return 1
        _part=$_part$character$rest
        ;;
      1:n*) _part=$_part$_newline${_piece#?} ;;
      1:t*) _part=$_part$_tab${_piece#?} ;;
      1:r*) _part=$_part$_return${_piece#?} ;;
      1:b*) _part=$_part$_backspace${_piece#?} ;;
      1:f*) _part=$_part$_feed${_piece#?} ;;
      1:*) _part=$_part$_piece ;; # a quote or a slash
      *) _part=$_part$_piece _is_escape=1 ;;
    esac
    _pieces=$((_pieces + 1))
    [ "$_pieces" -lt 200 ] || { text=$text$_part _part='' _pieces=0; }
  done
  text=$text$_part
  text=${text%?}
}

# Reads the four digits at the start; sets $character and $rest. The first half of a pair is kept for the second.
_unicode() {
  character=''
  case $1 in
    ????) _number=$((0x$1)) rest='' ;;
    *)
      rest=$1 _number=0
      for _digit in 1 2 3 4; do
        case $rest in
          0*) _digit=0 ;;
          1*) _digit=1 ;;
          2*) _digit=2 ;;
          3*) _digit=3 ;;
          4*) _digit=4 ;;
          5*) _digit=5 ;;
          6*) _digit=6 ;;
          7*) _digit=7 ;;
          8*) _digit=8 ;;
          9*) _digit=9 ;;
          [aA]*) _digit=10 ;;
          [bB]*) _digit=11 ;;
          [cC]*) _digit=12 ;;
          [dD]*) _digit=13 ;;
          [eE]*) _digit=14 ;;
          [fF]*) _digit=15 ;;
        esac
        _number=$((_number * 16 + _digit)) rest=${rest#?}
      done
      ;;
  esac
  if [ "$_number" -ge 55296 ] && [ "$_number" -le 56319 ]; then
    _high=$_number
    return 0
  fi
  if [ "$_number" -ge 56320 ] && [ "$_number" -le 57343 ]; then
    _number=$(((${_high:-55296} - 55296) * 1024 + _number - 56320 + 65536)) _high=''
  fi
  [ "$_number" -gt 0 ] || return 1
  if [ "$_number" -lt 128 ]; then
    _byte "$_number"
  elif [ "$_number" -lt 2048 ]; then
    _byte $((192 + _number / 64))
    _byte $((128 + _number % 64))
  elif [ "$_number" -lt 65536 ]; then
    _byte $((224 + _number / 4096))
    _byte $((128 + _number / 64 % 64))
    _byte $((128 + _number % 64))
  else
    _byte $((240 + _number / 262144))
    _byte $((128 + _number / 4096 % 64))
    _byte $((128 + _number / 64 % 64))
    _byte $((128 + _number % 64))
  fi
}

# Appends a byte to $character. Each costs a process the first time.
_byte() {
  eval "_octet=\${_byte_$1-}"
  if [ -z "$_octet" ]; then
    _octet=$(printf "\\$(($1 / 64))$(($1 / 8 % 8))$(($1 % 8))x")
    _octet=${_octet%x}
    eval "_byte_$1=\$_octet"
  fi
  character=$character$_octet
}

to_json() {
  json=$1
  case $json in *\\*) _replace "$json" \\ \\\\ && json=$replaced ;; esac
  case $json in *\"*) _replace "$json" \" \\\" && json=$replaced ;; esac
  case $json in *["$_controls"]*) _escape_controls ;; esac
  case $json in
    *"$_newline"*)
      json=$(printf '%s\n' "$json" | while IFS= read -r _line; do
        _escape_tabs "$_line"
        printf '%s\\n' "$escaped"
      done)
      json=${json%??}
      ;;
    *"$_tab"*) _escape_tabs "$json" && json=$escaped ;;
  esac
  json="\"$json\""
}

_escape_controls() {
  _left=$_controls
  while [ -n "$_left" ]; do
    _control=${_left%"${_left#?}"}
    _left=${_left#?}
    case $json in
      *"$_control"*)
        _replace "$json" "$_control" "\\u00$(printf '%02x' "'$_control")"
        json=$replaced
        ;;
    esac
  done
}

# Sets $escaped. IFS takes several tabs for one; this takes its time where a line has tens of thousands.
_escape_tabs() {
  escaped='' _left=$1
  while case $_left in *"$_tab"*) ;; *) false ;; esac do
    escaped=$escaped${_left%%"$_tab"*}\\t
    _left=${_left#*"$_tab"}
  done
  escaped=$escaped$_left
}

# _replace TEXT CHARACTER NEW: sets $replaced. The character is none that IFS takes for a blank.
_replace() {
  _object=$1. _new=$3
  set -f
  IFS=$2
  set -- $_object
  set +f
  IFS=$_ifs
  replaced='' _part=$1 _pieces=0
  shift
  for _piece in "$@"; do
    _part=$_part$_new$_piece _pieces=$((_pieces + 1))
    [ "$_pieces" -lt 200 ] || { replaced=$replaced$_part _part='' _pieces=0; }
  done
  replaced=$replaced$_part
  replaced=${replaced%?}
}

# _cut TEXT BYTES: sets $cut to at most so many, which are never fewer than UTF-16 units, and no half character.
_cut() {
  cut=$1
  [ "${#cut}" -gt "$2" ] || return 0
  cut=$(printf "%.$2s." "$cut")
  cut=${cut%?}
  while case $cut in *[$_later]) ;; *) false ;; esac do cut=${cut%?}; done
  case $cut in *[$_first]) cut=${cut%?} ;; esac
}
