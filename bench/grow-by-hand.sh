#!/bin/sh
# Adds members to a cluster by hand: grow-by-hand.sh name=peer-url=pod.json …
# One member after the other, because etcd allows one learner at a time. ETCDCTL_ENDPOINTS and KUBECONFIG are set.
set -eu
for member in "$@"; do
  name=${member%%=*}
  rest=${member#*=}
  url=${rest%=*}
  pod=${rest##*=}
  # Refused until all voters have been connected for five seconds, and then until the learner has caught up.
  until answer=$(etcdctl member add "$name" --learner --peer-urls="$url" 2>/dev/null); do sleep 0.05; done
  id=$(echo "$answer" | sed -n 's/^Member *\([0-9a-f]*\) added.*/\1/p')
  kubectl apply --namespace "$NAMESPACE" -f "$pod" >/dev/null
  until etcdctl member promote "$id" >/dev/null 2>&1; do sleep 0.05; done
done
