import type { Run } from "../../step.ts";

/**
 * Runs a command once nothing holds its object any more: udev probes every new or changed device for a moment, a
 * service may hold it for good. After the deadline the holders are the error (by name: an argv may hold a secret). They are looked for first, since
 * `zpool destroy` and `zpool export` do not fail while a volume is open: they hang, and can't be killed.
 * `held` is what may be held: a device node, a folder of them, a mount point.
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
holders() {
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
  for pid in $(find /proc/[0-9]*/fd /proc/[0-9]*/cwd /proc/[0-9]*/root \\( -lname "$held" -o -lname "$held/*" \\) 2>/dev/null |
    cut -d/ -f3 | sort -u); do
    process "$pid" "is in it"
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
