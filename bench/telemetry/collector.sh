# What one host does, a frame an interval, until it is told to end (SIGINT): the counters in files, and what
# programs printed since the frame before. The loop is built-ins of bash alone: no process is started for a sample.
#
# Arguments: the interval in seconds; by how many µs this host's clock is ahead of the reader's, so that frames
# begin on the reader's whole seconds; then any number of
#   file PATTERN              read in every frame
#   slow PATTERN              read in every tenth frame, and in the first and the last
#   program NAME SIGNAL COUNT ARGV…
#                             started 0.15 s after the first frame, ended by that signal
# A frame is one line, written at once; within it lines end with \v, and those that begin with \1 are ours:
#   \1@ SECONDS   a frame begins, by this host's clock
#   \1< PATH      what stands in that file now
#   \1| NAME      whole lines that the program printed since the frame before
#   \1.           the frame ends
shopt -s nullglob
LC_ALL=C

sleep_until() { # µs after the next whole interval; no frame waits longer than an interval, whatever the clock does
  now=${EPOCHREALTIME/./}
  left=step-\(now-ahead\)%step+$1
  printf -v pause '%d.%06d' $((left / 1000000)) $((left % 1000000))
  read -r -t "$pause" -u "$never"
}

contents() {
  local -a lines
  local path
  for path; do
    lines=()
    mapfile -t lines <"$path"
    ((${#lines[@]})) && out+=$'\1'"< $path"$'\v'${lines[*]}$'\v'
  done
}

printed() { # a line that isn't whole yet waits for the next frame
  local -a lines
  local name=$1
  mapfile lines <&"${output[$name]}"
  ((${#lines[@]})) || return 0
  lines[0]=${begun[$name]-}${lines[0]}
  begun[$name]=
  if [[ ${lines[-1]} != *$'\n' ]]; then
    begun[$name]=${lines[-1]}
    unset 'lines[-1]'
  fi
  ((${#lines[@]})) || return 0
  said[$name]=${lines[-1]%$'\n'}
  out+=$'\1'"| $name"$'\v'${lines[*]%$'\n'}$'\v'
}

frame() {
  local name IFS=$'\v' out=$'\1'"@ $EPOCHREALTIME"$'\v'
  {
    contents "${files[@]}"
    ((stopping || frames % 10 == 0)) && contents "${slow[@]}"
  } 2>/dev/null # some counters of a driver can't be read; what is missing the reader says
  for name in "${!output[@]}"; do printed "$name"; done
  # One string without a newline in it: line by line would be a write each.
  echo "$out"$'\1.'
  frames+=1
}

start() { # NAME ARGV…: its output goes to a file in memory without a name, so that nothing is left behind
  local name=$1 file=$scratch/$1 write read
  shift
  # shellcheck disable=SC2094
  exec {write}>"$file" {read}<"$file"
  "$@" </dev/null >&"$write" 2>&1 &
  pids[$name]=$!
  output[$name]=$read
  exec {write}>&-
}

runs() { kill -0 "${pids[$1]}" 2>/dev/null; }

collect() {
  local -i frames=0 stopping=0 at=0
  # shellcheck disable=SC2034 # bash sees them in arithmetic
  local -i step=$(($1 * 1000000)) ahead=$2 now left
  local -a files=() slow=() names=() argv=()
  local -A signals=() pids=() output=() begun=() said=()
  local scratch never pause name IFS=
  shift 2
  trap 'stopping=1' INT
  # A pipe that nobody writes to: read -t on it sleeps without a process.
  exec {never}<> <(:)
  while (($#)); do
    # shellcheck disable=SC2206 # a pattern becomes the files of today
    case $1 in
      file) files+=($2) && shift 2 ;;
      slow) slow+=($2) && shift 2 ;;
      program)
        names+=("$2")
        signals[$2]=$3
        argv+=("${@:4:$4+1}")
        shift $((4 + $4))
        ;;
      *) echo "unknown argument $1" >&2 && exit 2 ;;
    esac
  done
  sleep_until 0
  frame
  read -r -t 0.15 -u "$never"
  # Nothing is printed while it is there: who dies of a closed pipe leaves it behind.
  scratch=$(mktemp -d "/dev/shm/storage-lab.$$.XXXXXX") || exit 1
  for name in "${names[@]}"; do
    start "$name" "${argv[@]:at + 1:argv[at]}"
    ((at += argv[at] + 1))
  done
  rm -rf -- "$scratch"
  until
    sleep_until 0
    ((stopping))
  do
    frame
    for name in "${names[@]}"; do
      ((stopping)) || runs "$name" && continue
      echo "$name has ended: ${said[$name]-it printed nothing}" >&2
      exit 1
    done
  done
  for name in "${names[@]}"; do kill "-${signals[$name]}" "${pids[$name]}" 2>/dev/null; done
  for name in "${names[@]}"; do
    # Five seconds at most: it may be writing its last lines.
    for ((at = 0; at < 100; at++)); do
      runs "$name" || break
      read -r -t 0.05 -u "$never"
    done
    kill -KILL "${pids[$name]}" 2>/dev/null
  done
  frame
}

collect "$@" </dev/null
exit
