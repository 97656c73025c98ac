import type { Run } from "../../step.ts";

/**
 * A command that fails while something still holds its object: udev probes every new or changed device for a
 * moment, a service may hold it for good. Tried again while it says "busy"; after the deadline its own words
 * and the holders are the error. `held` is what is being held: a device node, a folder of them, a mount point.
 */
export const onceReleased = (say: string, held: string, argv: readonly string[]): Run => ({
  say,
  argv: ["sh", "-s", "--", String(deadlineSeconds), held, ...argv],
  stdin: script,
});

const deadlineSeconds = 60;

const script = `\
end=$(($(date +%s) + $1)) held=$2; shift 2
until said=$("$@" 2>&1); do
  case $said in *busy*) ;; *) printf '%s\\n' "$said" >&2; exit 1 ;; esac
  if [ "$(date +%s)" -ge "$end" ]; then
    printf '%s\\n' "$said" >&2
    for path in /sys/kernel/config/target/core/*/*/udev_path; do
      [ -e "$path" ] || continue
      case $(cat "$path") in "$held" | "$held"/*) printf 'LIO holds it: backstore %s\\n' "\${path%/udev_path}" >&2 ;; esac
    done
    find -L "$held" -type b -exec readlink -f {} + 2>/dev/null | sort -u | while read -r node; do
      grep -h "^$node " /proc/mounts | sed 's/^/mounted: /' >&2
      ls "/sys/class/block/\${node##*/}/holders" | sed "s|^|on $node stands: |" >&2
      find /proc/[0-9]*/fd -lname "$node" 2>/dev/null | cut -d/ -f3 | sort -u | while read -r pid; do
        printf 'process %s has %s open: %s\\n' "$pid" "$node" "$(tr '\\0' ' ' <"/proc/$pid/cmdline")" >&2
      done
    done
    find /proc/[0-9]*/fd /proc/[0-9]*/cwd /proc/[0-9]*/root \\( -lname "$held" -o -lname "$held/*" \\) 2>/dev/null |
      cut -d/ -f3 | sort -u | while read -r pid; do
        printf 'process %s uses it: %s\\n' "$pid" "$(tr '\\0' ' ' <"/proc/$pid/cmdline")" >&2
      done
    exit 1
  fi
  sleep 0.2
done
`;
