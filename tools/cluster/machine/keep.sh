# Read by services.sh. `keep name command…` runs a service for as long as the machine runs, and starts it again, as a
# service manager would, when it ends.
keep() {
  name=$1
  shift
  (
    while :; do
      "$@" >> "/var/log/$name.log" 2>&1 || true
      echo "--- $name ended; starting it again" >> "/var/log/$name.log"
      sleep 0.5
    done
  ) &
}
