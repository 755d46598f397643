#!/bin/sh
# Runs the tests where there is nothing: Debian's smallest root, git, make, the Node and npm that are
# here, and a user without rights. On Debian, as root, with debootstrap: sh test/bare.sh [TEST...]
set -eu
cd "$(dirname "$0")/.."
root="$PWD/node_modules/.cache/bare"
node=$(node -p 'process.execPath')
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")

if [ ! -e "$root/.complete" ]; then
  rm -rf "$root"
  # The archive and the release that apt uses, the first of them.
  apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' 'Origin: Debian' |
    { read -r site codename && debootstrap --variant=minbase --include=git,make,ca-certificates "$codename" "$root" "$site"; }
  chroot "$root" useradd --create-home tester
  # debootstrap leaves the id of no machine, as images of containers have none.
  rm -f "$root/etc/machine-id" "$root/var/lib/dbus/machine-id"
  touch "$root/.complete"
fi

install -D "$node" "$root/usr/local/bin/node"
rm -rf "$root/usr/local/lib/npm" "$root/home/tester/clipgate"
mkdir -p "$root/usr/local/lib"
cp -R "$npm" "$root/usr/local/lib/npm"
ln -sf ../lib/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
# What is committed, with the packages that are installed, and nothing that was got for other tests.
git clone --quiet --no-hardlinks . "$root/home/tester/clipgate"
tar --create --exclude node_modules/.cache node_modules |
  tar --extract --directory "$root/home/tester/clipgate"
touch "$root/home/tester/clipgate/node_modules"
chroot "$root" chown -R tester: /home/tester

# Its mounts and processes end with it.
unshare --mount --pid --fork --kill-child sh -eu -c '
  root=$1
  shift
  mount --bind /dev "$root/dev"
  mount -t devpts devpts "$root/dev/pts"
  mount -t proc proc "$root/proc"
  exec chroot "$root" su tester --login --command "cd clipgate && nice make test JOBS=2 $*"
' sh "$root" "${*:+TESTS=\"$*\"}"
