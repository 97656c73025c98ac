# What stands on a guest, as its own programs say it, one fact a line, the same for the same state: sorted, and
# without what differs from run to run (numbers of sessions, GUIDs, times). Read by the fault runs over plain ssh.
PATH=/usr/sbin:/sbin:$PATH LC_ALL=C
export PATH LC_ALL
say() { sed "s|^|$1: |"; }

if [ -e /sys/module/zfs ]; then
  zpool status -P 2>/dev/null | awk '/^config:/ { on = 1; next } /^errors:/ { on = 0 } on && NF { print $1, $2 }' | say vdev
  zpool list -Ho name 2>/dev/null | while read -r pool; do
    zfs get -Hr -s local -o name,property,value all "$pool" | say property
    zfs list -Hrt all -o name,volsize,refreservation "$pool" | say dataset
    zfs list -Hrt volume -o name "$pool" | while read -r volume; do
      [ -b "/dev/zvol/$volume" ] && echo "node: /dev/zvol/$volume"
    done
    zpool get -H -o property,value comment,autotrim,cachefile "$pool" | say "pool $pool"
  done
fi
for disk in /dev/disk/by-id/virtio-DISK*; do
  [ -b "$disk" ] && wipefs -n --noheadings -O TYPE "$disk" | say "signature ${disk##*/}"
done

lio=/sys/kernel/config/target
if [ -d $lio ]; then
  find $lio/core $lio/iscsi -mindepth 1 \( -path '*/statistics*' -o -path '*/alua*' -o -path '*/pr' -o -path '*/action' \
    -o -path '*_auth*' -o -path '*/fabric_statistics*' -o -path '*/cpus_allowed_list' \) -prune -o \
    \( -type d -print \) -o \( -type l -printf '%p -> %l\n' \) 2>/dev/null | say lio
  for file in $lio/core/*/*/enable $lio/core/*/*/udev_path $lio/core/*/*/wwn/vpd_unit_serial \
    $lio/iscsi/*/tpgt_*/enable $lio/iscsi/*/tpgt_*/np/*/iser $lio/iscsi/*/tpgt_*/acls/*/auth/userid \
    $lio/iscsi/*/tpgt_*/attrib/*; do
    [ -e "$file" ] && echo "lio: $file = $(cat "$file" 2>/dev/null)"
  done
fi
for file in /etc/rtslib-fb-target/saveconfig.json /etc/target/saveconfig.json; do
  [ -e $file ] && python3 -c '
import json, sys
def walk(path, value):
    if isinstance(value, dict):
        for key in value: walk(path + "." + key, value[key])
    elif isinstance(value, list):
        for item in value: walk(path + "[" + str(isinstance(item, dict) and (item.get("name") or item.get("wwn") or item.get("node_wwn") or item.get("index") or item.get("port"))) + "]", item)
    elif not ("alua" in path or path.endswith("password")): print("saved:", path, "=", value)
walk("", json.load(open(sys.argv[1])))' $file
done

for session in /sys/class/iscsi_session/session*; do
  [ -e "$session" ] && echo "session: $(cat "$session/targetname" "$session/state" | tr '\n' ' ')"
done
find /etc/iscsi/nodes -type f 2>/dev/null | while read -r file; do
  echo "node record: $file"
  grep -E '^(node.startup|node.session.queue_depth|iface.transport_name|node.session.auth.(authmethod|username)) ' "$file" | say "node record"
done
ls /dev/disk/by-path 2>/dev/null | grep -- -iscsi- | while read -r disk; do
  echo "disk: $disk $(blkid -p -s TYPE -s LABEL -o value "/dev/disk/by-path/$disk" | sort | tr '\n' ' ')"
done
[ -e /etc/iscsi/initiatorname.iscsi ] && say initiator </etc/iscsi/initiatorname.iscsi
systemctl is-enabled open-iscsi.service iscsid.socket rtslib-fb-targetctl.service 2>/dev/null | tr '\n' ' ' | say enabled
echo

ip -o link show dev eth1 | grep -oE 'mtu [0-9]+|[<,]UP' | tr -d '<,' | say eth1
ip -o address show dev eth1 scope global | awk '{ print $4 }' | say eth1
# Not by rdma(8): that loads modules.
for link in /sys/class/infiniband/*; do
  [ -e "$link" ] && echo "rdma: ${link##*/} $(cat "$link/ports/1/state" "$link/ports/1/gid_attrs/ndevs/0" | tr '\n' ' ')"
done

findmnt -rno TARGET,FSTYPE,OPTIONS -t xfs,zfs | awk '{ print $1, $2 }' | say mount
for file in $(find /var/lib/storage-lab /etc/systemd/system /etc/modules-load.d -path '*storage-lab*' \( -type f -o -type l \) ! -name seed); do
  echo "file: $file $(cksum <"$file")"
done
find /etc /var/lib /var/tmp /run /root /mnt -xdev \( -name '*.storage-lab-part' -o -name 'storage-lab-faults*' \) 2>/dev/null | say left
ps -eo args= | grep -E '^(zpool|zfs|flock|mkfs|wipefs|targetctl|iscsiadm|xfs_|sh -s)' | say process
