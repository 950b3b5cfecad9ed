#!/bin/sh
# Runs as the first process of the lab's namespaces: builds the network that all pods are joined to, and runs the program
# that it is given. $1 is the gateway's address, $2 the range of service addresses.
set -eu
gateway=$1 services=$2
shift 2
mount --make-rprivate /
ip link set lo up
# A bridge without an address of its own takes that of a port, and another when ports come and go: pods that remember
# the old one would speak to nobody.
ip link add lab0 address 02:00:0a:f4:00:01 type bridge
ip address add "$gateway" dev lab0
ip link set lab0 up
# Every address of the range is this namespace's own: whoever listens on one of them serves it.
ip route add local "$services" dev lo
# Between its own and outer interfaces nothing is passed on, because there are no outer ones.
echo 1 > /proc/sys/net/ipv4/ip_forward || true
# Not by becoming it: whoever loses its parent becomes a child of the first process, and when it has ended that must be taken
# note of, as a shell that waits does. One of whom nobody does so keeps the first process of its container from ending.
"$@" || exit $?
