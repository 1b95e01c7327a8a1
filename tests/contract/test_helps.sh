#!/usr/bin/env bash
#
# The completions in real shells, and the manual pages, both made from the tables of the commands and installed.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin make

share=$dir/usr/share
mkdir -p "$share"/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
"$DREY" completion bash >"$share/bash-completion/completions/drey" &&
	"$DREY" completion zsh >"$share/zsh/site-functions/_drey" &&
	"$DREY" completion fish >"$share/fish/vendor_completions.d/drey.fish"
result $? 'drey completion'
make -n install-helps PREFIX=/usr 2>/dev/null >"$dir/out"
grep -q /usr/share/man/man1 "$dir/out" && grep -q /usr/share/bash-completion/completions/drey "$dir/out" &&
	grep -q /usr/share/zsh/site-functions/_drey "$dir/out" && grep -q /usr/share/fish/vendor_completions.d/drey.fish "$dir/out"
result $? 'make install puts them where the shells look'
mapfile -t commands < <("$DREY" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p')

# ---- manual pages

manual=$BUILD/manual # only the ordinary build makes it
[ -x "$manual" ] || manual=build/manual
"$manual" "$share/man/man1"
ok 'a page for each command, and one for all' test "$(find "$dir/usr/share/man/man1" -name 'drey*.1' | wc -l)" -eq $((${#commands[@]} + 1))
if command -v groff >/dev/null; then
	groff -man -Tutf8 -ww "$dir"/usr/share/man/man1/*.1 >"$dir/out" 2>"$dir/err"
	[ ! -s "$dir/err" ]
	result $? 'groff has no complaint'
	groff -man -Tascii -P-cbou "$dir/usr/share/man/man1/drey-resume.1" | tr -s " " >"$dir/out"
	grep -q -- '--allow-non-restored-state' "$dir/out" && grep -q 'drey-resume - start the job again' "$dir/out"
	result $? 'a page has the options and the summary'
else
	skip 'groff has no complaint' 'groff is missing'
	skip 'a page has the options and the summary' 'groff is missing'
fi

# ---- bash: words, the last one is being completed

cat >"$dir/complete.bash" <<-'BASH'
	. "$1"
	shift
	COMP_WORDS=(drey "$@") COMP_CWORD=$#
	_drey
	printf '%s\n' "${COMPREPLY[@]}"
BASH
completes() { # WANT WORD...: the words are those, in one line
	local want=$1
	shift
	bash "$dir/complete.bash" "$dir/usr/share/bash-completion/completions/drey" "$@" >"$dir/out" 2>"$dir/err"
	[ "$(paste -sd' ' "$dir/out")" = "$want" ] && [ ! -s "$dir/err" ]
}
ok 'bash: a command' completes 'status' stat
ok 'bash: every command' completes "help ${commands[*]}" ''
ok 'bash: options' completes '--json' status --js
ok 'bash: the values of an option' completes 'json yaml wide' status -o ''
ok 'bash: causes' completes 'StopFailed StorageUnreadable StoredJobLeft' explain Sto
ok 'bash: on and off' completes 'on off' do-not-restart ''
ok 'bash: after a global option' completes 'status' -c x stat
ok 'bash: a file' completes "$dir/complete.bash" verify "$dir/comp"
ok 'bash: the values of an option' completes 'latest' resolve --policy la
ok 'bash: nothing that it does not know' completes '' nonsense ''

ok 'no help text loses an apostrophe, or ends in a bracket that nothing closes' bash -c '
	! grep -hE "(Flinks|yamls|applications) |\([^)]*$" <("$1" completion fish | grep " -d ") <("$1" completion zsh | grep "\[")' - "$DREY"

# ---- zsh and fish: that they read it, and what fish says

if command -v zsh >/dev/null; then
	zsh -n "$dir/usr/share/zsh/site-functions/_drey" && zsh -f -c '
		autoload -U compinit && compinit -u -d "$1/zcompdump" && . "$1/usr/share/zsh/site-functions/_drey" &&
			[ "$_comps[drey]" = _drey ]' zsh "$dir" >"$dir/out" 2>"$dir/err"
	result $? 'zsh: it is registered'
else
	skip 'zsh: it is registered' 'zsh is missing'
fi
if command -v fish >/dev/null; then
	fish_says() { # LINE
		HOME=$dir PATH=$BUILD:$PATH fish --no-config -c "source $dir/usr/share/fish/vendor_completions.d/drey.fish; complete -C '$1'" 2>"$dir/err" |
			cut -f1 | paste -sd' ' >"$dir/out"
		cat "$dir/out"
	}
	ok 'fish: a command' test "$(fish_says 'drey stat')" = status
	ok 'fish: an option' test "$(fish_says 'drey status --vert')" = --vertices
	ok 'fish: a command after a global option' test "$(fish_says 'drey -c x stat')" = status
	ok 'fish: the values of an option' test "$(fish_says 'drey inspect --kind ha')" = 'ha-map ha-value'
	ok 'fish: no option of another command' test "$(fish_says 'drey status --poli')" = ''
	ok 'fish: causes' test "$(fish_says 'drey explain Sto')" = 'StopFailed StorageUnreadable StoredJobLeft'
else
	skip 'fish: a command' 'fish is missing'
	skip 'fish: an option' 'fish is missing'
	skip 'fish: a command after a global option' 'fish is missing'
	skip 'fish: the values of an option' 'fish is missing'
	skip 'fish: no option of another command' 'fish is missing'
	skip 'fish: causes' 'fish is missing'
fi

contract_end
