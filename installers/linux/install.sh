#!/bin/sh
# Installs Pinfill for the user who runs it, without an administrator. uninstall.sh takes it away again.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
library="$HOME/.local/lib/pinfill"
program="$HOME/.local/bin/pinfill"
share="${XDG_DATA_HOME:-$HOME/.local/share}"

fail() {
    printf 'error: %s\n' "$1" >&2
    exit 1
}

fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}

[ "$(uname -sm)" = "Linux x86_64" ] || fail "This package is for Linux on x86_64."
case "$HOME" in /*) ;; *) fail "HOME is not set." ;; esac

# /usr/bin/python3 first: it goes on working when the system moves on to another Python.
for candidate in ${PYTHON:-/usr/bin/python3 python3 python3.13 python3.12 python3.11}; do
    python=$(command -v "$candidate" || true)
    if [ -n "$python" ] && fits "$python"; then break; fi
    python=
done
[ -n "$python" ] || fail "Pinfill needs Python 3.11 to 3.13. Install one of them, or name one: PYTHON=/path/python3 $0"

mkdir -p "$HOME/.local/lib" "$HOME/.local/bin" "$share/applications" "$share/man/man1"
rm -rf "$library.new"
cp -a "$here/lib/pinfill" "$library.new"
ln -sfn "$python" "$library.new/bin/python3"
printf 'home = %s\ninclude-system-site-packages = false\n' "$(dirname -- "$python")" >"$library.new/pyvenv.cfg"
# What is running has modules still to load.
[ ! -x "$program" ] || "$program" app --quit 2>/dev/null || echo "Pinfill still runs. Quit it, and start it again." >&2
rm -rf "$library"
mv "$library.new" "$library"

cat >"$program" <<EOF
#!/bin/sh
exec "$library/bin/python3" -I "$library/bin/pinfill" "\$@"
EOF
chmod 755 "$program"
cp -a "$here/share/icons" "$share/"
cp "$here/share/man/man1/pinfill.1.gz" "$share/man/man1/"
quoted=$(printf '%s' "$program" | sed 's/[&|\\]/\\&/g')
sed -e "s|^Exec=pinfill|Exec=\"$quoted\"|" -e "s|^TryExec=pinfill|TryExec=$quoted|" \
    "$here/share/applications/pinfill.desktop" >"$share/applications/pinfill.desktop"

"$library/bin/python3" -I "$library/bin/compile.py" || true
printf 'Pinfill %s is installed. Start it from the menu, or with %s\n' "$("$program" --version | cut -d' ' -f2)" "$program"
case ":$PATH:" in
*":$HOME/.local/bin:"*) ;;
*) printf 'To type just "pinfill", put %s into PATH.\n' "$HOME/.local/bin" ;;
esac
