#!/bin/sh
# First process of a machine of the test cluster, in new process, mount, network, host name and IPC namespaces. Its argument is
# its directory. It waits for its network interfaces, creates its own root, and becomes its first service.
set -eu
directory=$1
. "$directory/etc/machine/settings"
read -r _network_is_ready || true

# Creates a cgroup for the pods of the kubelet, in every hierarchy (v1) or in the single one (v2).
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mkdir -p "/sys/fs/cgroup/$CGROUP"
  for controller in $(cat /sys/fs/cgroup/cgroup.controllers); do
    for level in . "${CGROUP%%/*}"; do
      echo "+$controller" > "/sys/fs/cgroup/$level/cgroup.subtree_control" 2>/dev/null || true
    done
  done
else
  for hierarchy in /sys/fs/cgroup/*/; do mkdir -p "$hierarchy$CGROUP"; done
fi

root=$directory/root
mount --bind "$DEBIAN_ROOT" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mount --bind "$directory/var" "$root/var"
mount --bind "$directory/etc" "$root/etc"
mount --bind "$PROGRAMS" "$root/programs"

cd "$root"
pivot_root . mnt
exec chroot . /bin/sh /etc/machine/start.sh < /dev/null
