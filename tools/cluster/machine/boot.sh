#!/bin/sh
# First process of a machine of the test cluster. It runs in fresh process, mount, network, host name and IPC namespaces
# and is told its directory; it waits until its cables are in, gives itself a root of its own and becomes what it is.
set -eu
directory=$1
. "$directory/etc/machine/settings"
read -r _cables_are_in || true

# A cgroup of its own, in every hierarchy (v1) or in the one (v2), for the kubelet to put pods into.
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
