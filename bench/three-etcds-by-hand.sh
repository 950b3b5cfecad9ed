#!/bin/sh
# Three etcds in namespaces like those of the lab's pods, as fast as a script can: $1 is the directory of etcd's programs, $2 an
# empty directory, $3 the gateway. Runs inside the lab's sandbox, until its input ends.
set -eu
PATH=$PATH:/usr/sbin:/sbin programs=$1 work=$2 gateway=$3
address() { echo "10.244.200.$1"; }
all=one=http://$(address 1):2380,two=http://$(address 2):2380,three=http://$(address 3):2380

member() {
  file=$work/net$1 cable=hand$1 own=$(address "$1")
  : > "$file"
  unshare --net="$file" ip link set lo up
  ip link add "$cable" type veth peer name eth0 netns "$file"
  ip link set "$cable" master lab0 up
  nsenter --net="$file" ip -batch - << END
address add $own/16 dev eth0
link set eth0 up
route add default via $gateway
END
  nsenter --net="$file" unshare --mount --pid --fork --kill-child "$programs/etcd" --name "$2" --data-dir "$work/$2" \
    --listen-client-urls "http://0.0.0.0:2379" --advertise-client-urls "http://$own:2379" \
    --listen-peer-urls "http://0.0.0.0:2380" --initial-advertise-peer-urls "http://$own:2380" \
    --initial-cluster "$all" --initial-cluster-token by-hand --log-level error > "$work/$2.log" 2>&1
}

member 1 one & member 2 two & member 3 three &
cat > /dev/null
for i in 1 2 3; do ip link delete "hand$i"; umount -l "$work/net$i"; done
kill 0
