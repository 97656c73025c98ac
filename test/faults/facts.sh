# What stands on a guest, as its own programs say it; facts.ts makes comparable lines of it. Read by the fault runs
# over plain ssh. A process costs some 50 ms in a guest, so each question is asked once for all objects.
PATH=/usr/sbin:/sbin:$PATH LC_ALL=C
export PATH LC_ALL
exec 2>/dev/null

if [ -e /sys/module/zfs ]; then
  echo "== vdev"
  zpool status -P
  echo "== pool"
  zpool get -H -o name,property,value comment,autotrim,cachefile
  echo "== property"
  zfs get -H -s local -t all -o name,property,value all
  echo "== dataset"
  zfs list -Ht all -o name,volsize,refreservation,origin,keystatus,mounted,userrefs
  echo "== node"
  [ -d /dev/zvol ] && find -L /dev/zvol -type b
fi
echo "== signature"
wipefs -n --noheadings -O DEVICE,TYPE /dev/disk/by-id/virtio-DISK*

lio=/sys/kernel/config/target
if [ -d $lio ]; then
  echo "== lio"
  find $lio/core $lio/iscsi -mindepth 1 \( -name statistics -o -name 'alua*' -o -name pr -o -name action \
    -o -name '*_auth' -o -name fabric_statistics -o -name auth -o -name param -o -name attrib \) -prune \
    -o -type d -print -o -type l -printf '%p -> %l\n'
  grep -H . $lio/core/*/*/enable $lio/core/*/*/udev_path $lio/core/*/*/wwn/vpd_unit_serial \
    $lio/core/*/*/attrib/emulate_tpu $lio/core/*/*/attrib/max_unmap_block_desc_count \
    $lio/iscsi/*/tpgt_*/enable $lio/iscsi/*/tpgt_*/np/*/iser $lio/iscsi/*/tpgt_*/acls/*/auth/userid \
    $lio/iscsi/*/tpgt_*/attrib/*
fi
echo "== saved"
cat /etc/rtslib-fb-target/saveconfig.json /etc/target/saveconfig.json

echo "== session"
grep . /sys/class/iscsi_session/session*/targetname /sys/class/iscsi_session/session*/state
echo "== record"
grep -rE '^(node.startup|node.session.queue_depth|iface.transport_name|node.session.auth.(authmethod|username)) ' /etc/iscsi/nodes
echo "== disk"
[ -d /dev/disk/by-path ] && blkid -p -s TYPE -s LABEL /dev/disk/by-path/*-iscsi-*
for disk in /dev/disk/by-path/*-iscsi-*; do [ -b "$disk" ] && echo "$disk"; done
echo "== name"
grep . /etc/iscsi/initiatorname.iscsi

echo "== eth1"
read -r mtu </sys/class/net/eth1/mtu && read -r flags </sys/class/net/eth1/flags && echo "mtu $mtu up $((flags & 1))"
ip -o address show dev eth1 scope global
echo "== rdma"
# Not by rdma(8): that loads modules.
grep . /sys/class/infiniband/*/ports/1/state /sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0

echo "== mount"
grep -E '^[^ ]+ [^ ]+ (xfs|zfs) ' /proc/mounts
echo "== file"
find /var/lib/storage-lab /etc/storage-lab /etc/systemd/system /etc/modules-load.d -path '*storage-lab*' -type f ! -name seed -exec cksum {} +
find /etc/systemd/system -type l -printf '%p -> %l\n'
echo "== left"
find /etc /var/lib/storage-lab /var/lib/iscsi /var/tmp /run /root /mnt -xdev \
  \( -name '*.storage-lab-part' -o -name 'storage-lab-faults*' -o -path '/mnt/*' \)
pgrep -a -x 'zpool|zfs|flock|mkfs.xfs|wipefs|iscsiadm|targetctl|xfs_io|xfs_admin|udevadm'
exit 0
