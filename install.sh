#!/bin/sh
# Installs plimsoll from an unpacked release archive. Needs nothing but a shell and the everyday tools
# beside it; asks the network nothing.
#
#   ./install.sh                  into ~/.local (as root: /usr/local)
#   ./install.sh --prefix DIR     into DIR/bin, DIR/share/man, DIR/share/…
#   ./install.sh --uninstall      removes what it installed there; your data stays. Run `plimsoll uninstall`
#                                 first: it gives back your agents' settings, which would go on calling it
set -eu

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'; }
fail() {
    echo "install.sh: $1" >&2
    exit "${2:-1}"
}

here=$(cd "$(dirname "$0")" && pwd)
prefix=
remove=
while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        [ $# -ge 2 ] || fail "--prefix needs a folder" 2
        prefix=$2
        shift
        ;;
    --uninstall) remove=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) fail "what is \`$1\`? try ./install.sh --help" 2 ;;
    esac
    shift
done
if [ -z "$prefix" ]; then
    if [ "$(id -u)" = 0 ]; then
        prefix=/usr/local
    else
        [ -n "${HOME:-}" ] || fail "there is no HOME: say where with --prefix DIR" 2
        prefix=$HOME/.local
    fi
fi

# What goes where: a file of the archive, its place, its mode.
each() {
    "$1" plimsoll bin/plimsoll 755
    for page in "$here"/man/*.1; do
        "$1" "man/${page##*/}" "share/man/man1/${page##*/}" 644
    done
    "$1" completions/plimsoll.bash share/bash-completion/completions/plimsoll 644
    "$1" completions/_plimsoll share/zsh/site-functions/_plimsoll 644
    "$1" completions/plimsoll.fish share/fish/vendor_completions.d/plimsoll.fish 644
}

put() {
    mkdir -p "$prefix/$(dirname "$2")" || fail "could not make \`$prefix/$(dirname "$2")\`: choose another with --prefix DIR"
    # A hook may be running: a file is replaced, never written over.
    cp "$here/$1" "$prefix/$2.new" && chmod "$3" "$prefix/$2.new" && mv -f "$prefix/$2.new" "$prefix/$2" || {
        rm -f "$prefix/$2.new"
        fail "could not write \`$prefix/$2\`: choose another folder with --prefix DIR"
    }
}

take() { rm -f "$prefix/$2"; }

if [ -n "$remove" ]; then
    data=${PLIMSOLL_DATA_DIR:-${XDG_DATA_HOME:-${HOME:-}/.local/share}/plimsoll}
    if grep -qsF "$(cd "$prefix/bin" 2>/dev/null && pwd)/plimsoll" "$data/installed.json"; then
        fail "your agents' settings still call it: run \`$prefix/bin/plimsoll uninstall\` first, it gives them back"
    fi
    each take
    echo "removed from $prefix"
    exit 0
fi

[ -f "$here/plimsoll" ] || fail "there is no binary beside it: this is for an unpacked release; in the source, use scripts/install"
if command -v sha256sum >/dev/null 2>&1; then
    (cd "$here" && sha256sum -c SHA256SUMS >/dev/null 2>&1) || fail "the archive is damaged: unpack it anew"
fi
"$here/plimsoll" --version >/dev/null 2>&1 || fail "this binary does not run here: it is for Linux on the machine its archive is named after"
each put
echo "installed $("$prefix/bin/plimsoll" --version) to $prefix/bin/plimsoll"
case ":${PATH:-}:" in
*":$prefix/bin:"*) echo "next: plimsoll init" ;;
*) echo "next: $prefix/bin/plimsoll init    ($prefix/bin is not on your PATH)" ;;
esac
