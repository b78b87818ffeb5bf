package session

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/process"
)

// A wrapperSyntax describes a launcher's arguments before the program that it starts.
type wrapperSyntax struct {
	verb   string // the word that must come first
	flags  string // options without a value, separated by spaces
	values string // options with a value in the same word or the next
	sets   bool   // NAME=value may follow the options
	dashes bool   // the program follows the first "--"
	apps   bool   // the launcher starts an app by its own name for it, not a program of the PATH
}

// wrapperSyntaxes returns the launchers by name: programs that start another program,
// named behind their options.
func wrapperSyntaxes() map[string]wrapperSyntax {
	return map[string]wrapperSyntax{
		"env":    {flags: "-i - --ignore-environment", values: "-u --unset -C --chdir", sets: true},
		"nice":   {values: "-n --adjustment"},
		"ionice": {flags: "-t --ignore", values: "-c --class -n --classdata"},
		"stdbuf": {values: "-i -o -e --input --output --error"},
		"setsid": {flags: "-c --ctty -f --fork -w --wait"},
		"systemd-run": {flags: "--user --scope --quiet -q --collect -G --no-block --same-dir -d",
			values: "--unit -u --slice -p --property --description"},
		"flatpak":          {verb: "run", flags: "--file-forwarding --user --system", values: "--branch --arch", apps: true},
		"snap":             {verb: "run", apps: true},
		"prlimit":          {dashes: true},
		"choom":            {dashes: true},
		"uclampset":        {dashes: true},
		"ssh-agent":        {dashes: true},
		"gpg-agent":        {dashes: true},
		"bwrap":            {dashes: true},
		"dbus-run-session": {dashes: true},
		"nohup":            {}, "gamemoderun": {}, "mangohud": {}, "prime-run": {}, "primusrun": {}, "optirun": {},
	}
}

// skip returns the index of the word that names the program, or 0 if it is unknown.
func (g wrapperSyntax) skip(words []string) int {
	if g.dashes {
		i := slices.Index(words, "--") + 1
		return i % len(words) // nothing follows: 0
	}
	i := 1
	if g.verb != "" {
		if len(words) < 2 || words[1] != g.verb {
			return 0
		}
		i = 2
	}
	for ; i < len(words) && strings.HasPrefix(words[i], "-"); i++ {
		option, _, inOne := strings.Cut(words[i], "=")
		switch {
		case slices.Contains(strings.Fields(g.flags), words[i]), inOne && slices.Contains(strings.Fields(g.values), option):
		case slices.Contains(strings.Fields(g.values), words[i]):
			i++
		case len(option) > 2 && option[1] != '-' && slices.Contains(strings.Fields(g.values), option[:2]): // as in -n5
		default:
			return 0
		}
	}
	for ; g.sets && i < len(words) && strings.Contains(words[i], "="); i++ {
		if name, _, _ := strings.Cut(words[i], "="); name == "PATH" || strings.HasPrefix(name, "LD_") {
			return 0 // another program than the named one may run
		}
	}
	if i >= len(words) {
		return 0
	}
	return i
}

// program returns the program that the words start, behind any known launchers.
func (l *Launcher) program(name string, words []string, files fieldCode) desktop.Program {
	p := desktop.Program{Name: name, Path: words[0], Args: words[1:], FieldCode: files.letter,
		FieldIndex: max(files.at-1, 0)}
	for rest, at := words, 0; ; {
		g, launches := wrapperSyntaxes()[filepath.Base(rest[0])]
		if inner := simpleScript(rest); inner != nil {
			rest, files, p.Target = inner, fieldCode{}, inner[0]
			continue
		} else if !launches {
			break
		}
		next := g.skip(rest)
		if p.RunsCommands = next == 0 || files.letter != 0 && files.at <= at+next; p.RunsCommands {
			p.Target = "" // a file or an argument may be the program
			return p
		}
		if rest, at, p.Target = rest[next:], at+next, rest[next]; g.apps {
			return p
		}
	}
	started := p.Path
	if p.Target != "" {
		if !filepath.IsAbs(p.Target) {
			p.Target = l.onPath(p.Target)
		}
		started = p.Target
	}
	real, err := filepath.EvalSymlinks(started)
	p.RunsCommands = started == "" || err != nil || runsCommands(filepath.Base(started)) ||
		runsCommands(filepath.Base(real))
	return p
}

// simpleScript returns the words of a shell script that consists of one command without
// shell syntax. It returns nil for any other command.
func simpleScript(words []string) []string {
	if len(words) < 3 || words[1] != "-c" || !slices.Contains([]string{"sh", "bash", "dash"}, filepath.Base(words[0])) ||
		strings.ContainsAny(words[2], "=|&;<>()$`\\\"'*?[]{}#~!\n") {
		return nil
	}
	inner := strings.Fields(words[2])
	if len(inner) > 1 && inner[0] == "exec" {
		inner = inner[1:]
	}
	if len(inner) == 0 {
		return nil
	}
	return inner
}

// runsCommands reports whether the named program runs commands from its arguments.
func runsCommands(name string) bool {
	return process.IsInterpreter(name) || strings.HasPrefix(name, "ld-") || slices.Contains(strings.Fields(
		`fish csh tcsh ksh mksh ash rbash busybox toybox awk gawk mawk expect find xargs parallel make watch time timeout script
		ssh sshpass tmux screen strace gdb valgrind taskset chrt sudo su doas runuser setpriv unshare nsenter chroot firejail proot
		fakeroot flock setarch linux32 linux64 i386 i486 i586 i686 x86_64 sg gapplication sensible-editor pkexec run0 systemd-inhibit docker podman toolbox distrobox distrobox-enter wine wine64 dotnet R Rscript julia erl iex elixir ghci runghc
		xdg-open gio gtk-launch exo-open kde-open kde-open5 kioclient kioclient5 kstart kstart5 dex flatpak-spawn systemd-cat
		at batch run-parts xvfb-run dbus-launch npm npx pnpm yarn uv uvx pipx env`), name)
}
