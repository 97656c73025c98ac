import type { Run } from "../../step.ts";

/**
 * Runs a command once nothing holds its object any more: udev probes every new or changed device for a moment, a
 * service may hold it for good. After the deadline the holders are the error (by name: an argv may hold a secret). They are looked for first, since
 * `zpool destroy` and `zpool export` do not fail while a volume is open: they hang, and can't be killed.
 * `held` is what may be held: a device node, a folder of them, a mount point, or a dataset's name, which stands for
 * the places where it is mounted.
 */
export const onceReleased = (say: string, held: string, argv: readonly string[]): Run => ({
  say,
  argv: ["sh", "-s", "--", String(deadlineSeconds), held, ...argv],
  stdin: script,
});

const deadlineSeconds = 60;

const script = `\
end=$(($(date +%s) + $1)) held=$2; shift 2
process() { printf 'process %s (%s) %s\\n' "$1" "$(cat "/proc/$1/comm")" "$2"; }
places() {
  case $held in
    /*) printf '%s\\n' "$held" ;;
    *) awk -v d="$held" '$1 == d && $3 == "zfs" { print $2 }' /proc/mounts ;;
  esac
}
inside() {
  for pid in $(find /proc/[0-9]*/fd /proc/[0-9]*/cwd /proc/[0-9]*/root \\( -lname "$1" -o -lname "$1/*" \\) 2>/dev/null |
    cut -d/ -f3 | sort -u); do
    process "$pid" "is in it"
  done
  awk -v p="$1/" '$3 != "zfs" && index($2, p) == 1 { print "mounted in it: " $1 " on " $2 }' /proc/mounts
  awk -v p="$1/" 'index($1, p) == 1 { print "swap in it: " $1 }' /proc/swaps
  for path in /sys/block/loop*/loop/backing_file /sys/kernel/config/target/core/*/*/udev_path; do
    [ -e "$path" ] || continue
    case $(cat "$path") in "$1"/*) printf 'a file in it is used: %s\\n' "$path" ;; esac
  done
}
holders() {
  places | while read -r place; do inside "$place"; done
  case $held in /dev/*) ;; *) return ;; esac
  nodes=$(find -L "$held" -type b -exec readlink -f {} + 2>/dev/null | sort -u)
  for path in /sys/kernel/config/target/core/*/*/udev_path; do
    [ -e "$path" ] || continue
    case "
$nodes
" in *"
$(readlink -f "$(cat "$path")")
"*) printf 'LIO holds it: backstore %s\\n' "\${path%/udev_path}" ;; esac
  done
  for node in $nodes; do
    grep "^$node " /proc/mounts | sed 's/^/mounted: /'
    ls "/sys/class/block/\${node##*/}/holders" | sed "s|^|on $node stands |"
    for pid in $(find /proc/[0-9]*/fd -lname "$node" 2>/dev/null | cut -d/ -f3 | sort -u); do
      process "$pid" "has $node open"
    done
  done
}
said=
while :; do
  found=$(holders 2>/dev/null)
  if [ -z "$found" ]; then
    said=$("$@" 2>&1) && exit 0
    case $said in *busy*) ;; *) break ;; esac
  fi
  [ "$(date +%s)" -lt "$end" ] || break
  sleep 0.2
done
printf '%s\\n' "$said" "$found" | head -n 8 >&2
exit 1
`;
