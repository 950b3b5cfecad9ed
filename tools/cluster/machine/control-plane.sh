#!/bin/sh
# The services of the control plane: API server, DNS, registry and volume provisioner.
. /etc/machine/settings
. /etc/machine/keep.sh
cd /etc/kubernetes
mkdir -p /var/log /var/lib/etcd /var/lib/registry

# The objects of a test cluster need not survive a power cut, so etcd runs without fsync.
keep etcd "$ETCD/etcd" --data-dir=/var/lib/etcd --unsafe-no-fsync \
  --listen-client-urls=http://127.0.0.1:2379 --advertise-client-urls=http://127.0.0.1:2379 \
  --listen-peer-urls=http://127.0.0.1:2380

keep kube-apiserver "$KUBERNETES/kube-apiserver" \
  --etcd-servers=http://127.0.0.1:2379 \
  --advertise-address="$CONTROL_PLANE" \
  --secure-port=6443 \
  --service-cluster-ip-range="$SERVICE_SUBNET" \
  --allow-privileged=true \
  --authorization-mode=Node,RBAC \
  --enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement \
  --enable-aggregator-routing=true \
  --client-ca-file=ca.crt \
  --tls-cert-file=apiserver.crt --tls-private-key-file=apiserver.key \
  --kubelet-certificate-authority=ca.crt \
  --kubelet-client-certificate=apiserver-kubelet-client.crt --kubelet-client-key=apiserver-kubelet-client.key \
  --kubelet-preferred-address-types=InternalIP \
  --service-account-issuer=https://kubernetes.default.svc.cluster.local \
  --service-account-key-file=tokens.pub --service-account-signing-key-file=tokens.key \
  --audit-policy-file=audit-policy.yaml --audit-log-path=/var/log/audit.log \
  --audit-log-maxsize=0 --audit-log-mode=blocking

keep registry "$REGISTRY/registry" serve /etc/registry/config.yml

# The other services start after the API server has created its roles. Otherwise they are refused and retry slowly.
until "$KUBERNETES/kubectl" --kubeconfig=admin.conf get --raw /readyz > /dev/null 2>&1; do sleep 0.1; done

keep kube-controller-manager "$KUBERNETES/kube-controller-manager" \
  --kubeconfig=controller-manager.conf \
  --controllers='*,-nodeipam' \
  --use-service-account-credentials \
  --service-account-private-key-file=tokens.key --root-ca-file=ca.crt \
  --cluster-signing-cert-file=ca.crt --cluster-signing-key-file=ca.key \
  --node-monitor-grace-period=16s --kube-api-qps=500 --kube-api-burst=500 \
  --leader-elect=false --bind-address=127.0.0.1

keep kube-scheduler "$KUBERNETES/kube-scheduler" \
  --kubeconfig=scheduler.conf --kube-api-qps=500 --kube-api-burst=500 --leader-elect=false --bind-address=127.0.0.1

keep coredns "$COREDNS/coredns" -conf /etc/coredns/Corefile

keep local-path-provisioner "$LOCAL_PATH/local-path-provisioner" start \
  --kubeconfig=/etc/kubernetes/admin.conf \
  --config=/etc/local-path/config.json \
  --helper-pod-file=/etc/local-path/helper-pod.yaml \
  --helper-image=busybox:latest \
  --service-account-name=default
wait
