#!/bin/sh
# Goes on inside the machine's own root: lets go of the outer one, sets up the network, then runs the machine's services
# under an init that takes in orphans.
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

# The kubelet would set these for the whole kernel, that is for everybody on this computer. Here it reads, in a file of
# its own, that they already are what it wants.
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
