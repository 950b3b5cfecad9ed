#!/bin/sh
# The services of a node.
. /etc/machine/settings
. /etc/machine/keep.sh
mkdir -p /var/log /var/lib/kubelet

keep containerd containerd --config /etc/containerd/config.toml
until [ -S /run/containerd/containerd.sock ]; do sleep 0.05; done
until busybox nc -w 1 "$CONTROL_PLANE" 6443 < /dev/null > /dev/null 2>&1; do sleep 0.1; done

keep kubelet "$KUBERNETES/kubelet" \
  --config=/etc/kubernetes/kubelet.yaml \
  --kubeconfig=/etc/kubernetes/kubelet.conf \
  --hostname-override="$NAME" \
  --node-ip="${ADDRESS%/*}" \
  --node-labels="topology.kubernetes.io/zone=$NAME" \
  --root-dir=/var/lib/kubelet

until "$KUBERNETES/kubectl" --kubeconfig=/etc/kubernetes/kube-proxy.conf get --raw /readyz > /dev/null 2>&1; do
  sleep 0.2
done
keep kube-proxy "$KUBERNETES/kube-proxy" \
  --kubeconfig=/etc/kubernetes/kube-proxy.conf \
  --hostname-override="$NAME" \
  --proxy-mode=nftables \
  --cluster-cidr="$POD_SUBNET" \
  --conntrack-max-per-core=0 \
  --conntrack-min=0
wait
