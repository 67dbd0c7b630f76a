#!/bin/sh
# Takes away what install.sh installed. Models, pins and settings stay, unless --purge is given.
set -eu

library="$HOME/.local/lib/pinfill"
program="$HOME/.local/bin/pinfill"
share="${XDG_DATA_HOME:-$HOME/.local/share}"

end_application() {
    [ ! -x "$program" ] || "$program" app --quit 2>/dev/null || echo "Pinfill still runs. Quit it." >&2
}

case "${1:-}" in
"") end_application ;;
--purge)
    shift
    end_application
    "$program" uninstall-state "$@"
    ;;
*)
    printf 'usage: %s [--purge [--yes]]\n' "$0" >&2
    exit 2
    ;;
esac

rm -rf "$library"
rm -f "$program" "$share/applications/pinfill.desktop" "$share/man/man1/pinfill.1.gz"
rm -f "$share/icons/hicolor/scalable/apps/pinfill.svg"
rm -f "${XDG_CONFIG_HOME:-$HOME/.config}/autostart/pinfill.desktop"
echo "Pinfill is removed."
