#!/bin/sh
# Installs Armarium @VERSION@ for the person who runs it, from the folder this file lies in; `--remove` undoes it.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
place=${ARMARIUM_HOME:-"${XDG_DATA_HOME:-"$HOME/.local/share"}/armarium-engine"}
command="$HOME/.local/bin/armarium"

ask() {
    [ "$agreed" = yes ] && return
    printf '%s [y/N] ' "$1"
    read -r answer || answer=
    case $answer in [yY]*) ;; *) echo "Nothing was changed."; exit 1 ;; esac
}

agreed=no
remove=no
for word in "$@"; do
    case $word in
    --yes) agreed=yes ;;
    --remove) remove=yes ;;
    *)
        echo "usage: install.sh [--yes] [--remove]" >&2
        exit 2
        ;;
    esac
done

if [ "$remove" = yes ]; then
    [ -f "$place/pyvenv.cfg" ] && [ -x "$place/bin/armarium" ] || { echo "Armarium is not installed in $place."; exit 1; }
    state=$("$place/bin/python" -c 'from armarium.settings import Settings; print(Settings().state_dir)')
    echo "This removes:"
    echo "  $place    the program"
    echo "  $command    the command"
    echo "  $state    what the engine keeps: access tokens, its list of projects, readers added later"
    echo "Projects (folders that end in .library) stay where they are."
    ask "Remove Armarium?"
    # An engine in the background would write into what is removed.
    "$place/bin/armarium" engine stop || true
    inside=$(find "$state" -type d -name '*.library' -prune 2>/dev/null | head -n 1)
    if [ -n "$inside" ]; then
        echo "$state contains a project ($inside) and is left as it is."
    else
        rm -rf "$state"
    fi
    rm -rf "$place"
    if [ -L "$command" ]; then rm -f "$command"; fi
    echo "Armarium is removed."
    exit 0
fi

# What is there is replaced, so it must be an environment that this script made.
if [ -e "$place" ] && { [ ! -f "$place/pyvenv.cfg" ] || [ ! -x "$place/bin/armarium" ]; }; then
    echo "$place exists and is no installation of Armarium: move it away, or name another folder in ARMARIUM_HOME." >&2
    exit 1
fi

python=
for name in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$name" -c 'import sys, venv; raise SystemExit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        python=$name
        break
    fi
done
[ -n "$python" ] || { echo "Armarium needs Python 3.11 or newer, with its module venv." >&2; exit 1; }

echo "This installs Armarium @VERSION@ with $("$python" --version):"
echo "  $place    the program and all it needs, about @MEGABYTES@ MB, from $here alone"
echo "  $command    the command"
echo "It asks for no rights of an administrator, and nothing is fetched from a network."
ask "Install Armarium?"

rm -rf "$place"
"$python" -m venv "$place"
# What is imported is compiled when it is, which is a quarter of the bytecode.
"$place/bin/python" -m pip install --quiet --no-compile --no-index --find-links "$here" --disable-pip-version-check "armarium-engine==@VERSION@"
mkdir -p "$(dirname "$command")"
ln -sf "$place/bin/armarium" "$command"
"$place/bin/armarium" --version
case ":$PATH:" in
*":$(dirname "$command"):"*) echo "Begin with: armarium open" ;;
*) echo "Begin with: $command open" ;;
esac
