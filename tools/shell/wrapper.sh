# What bash runs around a command: the state of the session before it, and what
# it left after it. $1 is the directory of the state, $2 the command, $3 is 1
# when the state is to be kept, and clean when that from before is none of its
# business; $4 where the command begins, by the name that
# the session knows, and NAME=value for each variable of this command alone.
# Names that begin with __sc are ours. The command itself is evaluated by the
# one line that evaluates this file, so that it begins at line 1.
shopt -s expand_aliases
__sc_temp=${TMPDIR-} __sc_go=${GOFLAGS-} __sc_git=${GIT_CONFIG_COUNT-} # of this command alone, where they are given
if [ "$3" != clean ] && [ -r "$1/state" ]; then . "$1/state"; fi
cd -L -- "$4" 2>/dev/null # the state has the PWD of before
__sc_dir=$1 __sc_line=$2 __sc_keep=$3 __sc_before=
for __sc_set in "${@:5}"; do
	__sc_name=${__sc_set%%=*}
	__sc_before+="unset $__sc_name; $(declare -p "$__sc_name" 2>/dev/null)"$'\n'
	export "$__sc_set"
done
__sc_save='
	if [ "$__sc_keep" = clean ]; then
		__sc_keep=0
		( umask 077; { pwd -W 2>/dev/null || pwd; } >|"$__sc_dir/cwd" ) 2>/dev/null
	elif [ "$__sc_keep" = 1 ]; then
		__sc_keep=0
		( # exported variables may be secrets; the umask of the session stays
			umask 077
			eval "$__sc_before"
			[ "${TMPDIR-}" != "$__sc_temp" ] || unset TMPDIR
			[ "${GOFLAGS-}" != "$__sc_go" ] || unset GOFLAGS
			[ -z "$__sc_git" ] || unset GIT_CONFIG_COUNT "${!GIT_CONFIG_KEY_@}" "${!GIT_CONFIG_VALUE_@}"
			{
				declare -px
				declare -f
				alias -p
				builtin echo
				builtin echo "# the end"
			} >|"$__sc_dir/state.new"
			{ pwd -W 2>/dev/null || pwd; } >|"$__sc_dir/cwd" # -W: a bash for Windows says it as Windows does
		) 2>/dev/null
	fi'
trap '__sc_code=$?; eval "$__sc_save"; exit $__sc_code' EXIT # for a command that exits
set --
