#!/bin/sh
# The first process of the sandbox: creates the bridge that all pods are attached to, then runs the given program. $1 is
# the address of the gateway, $2 the CIDR of Services.
set -eu
gateway=$1 services=$2
shift 2
mount --make-rprivate /
ip link set lo up
# The bridge has a fixed MAC address. Without one it takes the MAC of a port and changes it with the ports, and the ARP
# caches of pods go stale.
ip link add lab0 address 02:00:0a:f4:00:01 type bridge
ip address add "$gateway" dev lab0
ip link set lab0 up
# Every address of the Service CIDR is local here: a relay can listen on each of them.
ip route add local "$services" dev lo
# The sandbox has no interface to the outside, so this forwards between pods only.
echo 1 > /proc/sys/net/ipv4/ip_forward || true
# No exec: orphaned processes become children of this process, and a waiting shell reaps them. An unreaped zombie would
# keep the first process of its container from ending.
"$@" || exit $?
