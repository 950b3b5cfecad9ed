# Sourced by the scripts of machines. `keep name command…` runs a service and restarts it when it ends, as a service
# manager does.
keep() {
  name=$1
  shift
  (
    while :; do
      "$@" >> "/var/log/$name.log" 2>&1 || true
      echo "--- $name ended; restarting" >> "/var/log/$name.log"
      sleep 0.5
    done
  ) &
}
