#!/bin/sh
# Runs inside the machine's own root: unmounts the host's root, sets up the network, then runs the services under an init that
# reaps orphans.
set -eu
. /etc/machine/settings
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/var/root

umount -l /mnt
mount --make-rshared /
busybox hostname "$NAME"

ip link set lo up
ip address add "$ADDRESS" dev eth0
ip link set eth0 up
while read -r destination gateway; do
  [ -n "$destination" ] && ip route add "$destination" via "$gateway"
done < /etc/machine/routes
echo 1 > /proc/sys/net/ipv4/ip_forward

# The kubelet would set these tunables for the host's kernel. These bind mounts show it files that already have the wanted
# values.
mkdir -p /run/tunables "$HOME"
while read -r tunable value; do
  echo "$value" > "/run/tunables/${tunable##*/}"
  mount --bind "/run/tunables/${tunable##*/}" "/proc/sys/$tunable"
done << END
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
END

exec tini -g -- /bin/sh /etc/machine/services.sh
