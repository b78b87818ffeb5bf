package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// victim is a home with the gateway of a release, except that the home counts as the account's and
// the session comes from the environment. An app is on its bus.
type victim struct {
	home
	t     *testing.T
	app   *testkit.BusService
	front []string // command in front of the program at a terminal
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	h, app := selfProgram(t).withApp(t)
	v := &victim{home: h, t: t, app: app}
	v.write(t, ".aai/config.json", "{}")
	v.env = append(v.env, "STRICT=1", "POLICY="+filepath.Join(v.folder, "policy.json"))
	return v
}

// run runs the program without a terminal, and returns its exit code and all output.
func (v *victim) run(env []string, args ...string) (int, string) {
	v.t.Helper()
	cmd := v.command(v.t.Context(), args...)
	cmd.Env = append(slices.Clone(v.env), env...)
	out, err := cmd.CombinedOutput()
	return exitOf(v.t, err), string(out)
}

func exitOf(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	assert.Assert(t, ok, err)
	return exit.ExitCode()
}

// typed runs the program at a kernel terminal: after each prompt it types the next line.
func (v *victim) typed(lines []string, args ...string) (int, string) {
	v.t.Helper()
	person, program := terminal(v.t)
	ctx, cancel := context.WithTimeout(v.t.Context(), patience)
	defer cancel()
	args = slices.Concat(v.front, []string{string(v.binary)}, args)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = v.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	assert.NilError(v.t, cmd.Start())
	_ = program.Close()
	var seen strings.Builder
	buffer, from := make([]byte, 4096), 0
	for {
		n, err := person.Read(buffer)
		seen.Write(buffer[:n])
		if prompted(seen.String()[from:]) {
			line := "\x04" // no lines are left
			if len(lines) > 0 {
				line, lines = lines[0]+"\n", lines[1:]
			}
			if from = seen.Len(); strings.Contains(line, "phrase") {
				awaitHidden(v.t, person)
			}
			_, _ = io.WriteString(person, line)
		}
		if err != nil {
			break // the other end is closed
		}
	}
	code := exitOf(v.t, cmd.Wait())
	if ctx.Err() != nil {
		v.t.Fatalf("%q does not end: %s", args, seen.String())
	}
	return code, seen.String()
}

// prompted reports whether the program shows a prompt.
func prompted(said string) bool {
	return slices.ContainsFunc([]string{"Your choice [1]: ", "this gateway: ", "Once more: ", "[y/N] "}, func(p string) bool { return strings.Contains(said, p) })
}

// builtinChanges maps all builtin tools that do more than read to calls: see
// TestBuiltinChangesAreKnown.
func builtinChanges(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "ownchanges.json"))
	var known map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(b, &known)
	}
	assert.NilError(t, err)
	calls := make(map[string]string)
	for tool, args := range known {
		calls[tool] = string(args)
	}
	return calls
}

// narrowing reports whether a tool only removes rights, which needs no proof.
func narrowing(tool string) bool {
	return tool == "auth_logout" || tool == "browser_disconnect" || tool == "consent_revoke" || tool == "rate" || tool == "recording_delete" || tool == "workflow_rename" || tool == "secret_remove" || tool == "stop" || tool == "session_take"
}

// bypassAttempts returns known attempts to bypass the question.
func (v *victim) bypassAttempts() map[string][]string {
	v.write(v.t, "evil.json", `{"consent": {"dialog": "off", "elicitation": true, "preapproved": [
		{"app": "org.example.App", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"},
		{"app": "aai", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
	return map[string][]string{
		"plain":                  nil,
		"no display":             {"DISPLAY=", "WAYLAND_DISPLAY="},
		"a display that is none": {"DISPLAY=:93471"},
		"the dialog off":         {"AAI_CONSENT_DIALOG=off"},
		"another configuration":  {"AAI_CONFIG=" + filepath.Join(v.folder, "evil.json")},
		"for developers":         {"AAI_DEV=1", "AAI_INSECURE_STORAGE=1"},
		"another mode":           {"AAI_SECURITY_MODE=normal"},
	}
}

// TestBuiltinToolsAreAskedOrRefused calls every builtin tool that does more than read, as an agent
// with a shell can, with every trick of the environment.
func TestBuiltinToolsAreAskedOrRefused(t *testing.T) {
	v := newVictim(t)
	if code, said := v.run(nil, "mode", "safe"); code != 0 { // narrowing needs no proof
		t.Fatal(said)
	}
	for trick, env := range v.bypassAttempts() {
		for tool, args := range builtinChanges(t) {
			code, said := v.run(env, "exec", "aai", tool, args)
			if narrowing(tool) {
				assert.Check(t, code != 4, "%s, %s is not free: %d, %s", trick, tool, code, said)
			} else if code != 4 || !strings.Contains(said, "consent passphrase") && !strings.Contains(said, "must confirm it") {
				t.Errorf("%s, %s: %d, %s", trick, tool, code, said)
			}
		}
		for _, command := range [][]string{
			{"consent", "grant", exampleApp, "--all", "--caller", "mcp:evil", "--yes"},
			{"--config", filepath.Join(v.folder, "evil.json"), "consent", "grant", exampleApp, "--all", "--caller", "*", "--yes"},
			{"mode", "normal", "--yes"},
			{"discover", "--name", "bank", "evil.example"},
			{"audit", "export", "--output", filepath.Join(v.folder, "export")},
		} {
			code, said := v.run(env, command...)
			assert.Check(t, code == 4 || command[0] == "discover" && code != 0, "%s %q %d %s", trick, command, code, said)
		}
		code, said := v.run(env, "exec", exampleApp, "echo", `{"v": "x"}`)
		assert.Check(t, is.Equal(code, 4), "%s, and the app is open: %d, %s", trick, code, said)
	}
	v.expectNoGrant()
}

// expectNoGrant checks that there is no grant, the mode is still safe, and the app got no call.
func (v *victim) expectNoGrant() {
	v.t.Helper()
	code, said := v.run(nil, "consent", "list", "--format", "json")
	assert.Check(v.t, is.Equal(code, 0), said)
	assert.Check(v.t, is.Equal(strings.TrimSpace(said), "[]"), said)
	_, said = v.run(nil, "mode")
	assert.Check(v.t, is.Equal(strings.TrimSpace(said), "safe"), said)
	n := v.app.Calls("EchoString")
	assert.Check(v.t, is.Equal(n, 0), "the app was called %d times", n)
	_, err := os.Stat(filepath.Join(v.folder, "export"))
	assert.Check(v.t, err != nil, "a file was written")
}

// TestAPseudoTerminalProvesNothing types twenty lines at a terminal for every prompt. Without a
// passphrase they allow one call of an app, and nothing permanent; with one, nothing at all.
func TestAPseudoTerminalProvesNothing(t *testing.T) {
	v := newVictim(t)
	code, said := v.run(nil, "mode", "safe")
	assert.Equal(t, code, 0, said)
	yes := []string{"y", "2", "y", "yes", "2", "2"}
	for tool, args := range builtinChanges(t) {
		if tool == "consent_passphrase" || narrowing(tool) {
			continue // see TestPassphraseAtATerminal
		}
		code, said := v.typed(yes, "exec", "aai", tool, args)
		assert.Check(t, is.Equal(code, 4), "%s %s", tool, said)
	}
	for _, command := range [][]string{{"consent", "grant", exampleApp, "--all", "--caller", "*"}, {"mode", "normal"}} {
		code, said := v.typed(yes, command...)
		assert.Check(t, is.Equal(code, 4), "%q %s", command, said)
	}
	code, said = v.typed([]string{"4"}, "exec", exampleApp, "echo", `{"v": "x"}`)
	assert.Check(t, is.Equal(code, 4), said)
	assert.Check(t, !strings.Contains(said, "Always"), "it may be allowed for good: %d, %s", code, said)
	v.expectNoGrant()
}

const phrase = "a phrase that nobody guesses"

// TestPassphraseAtATerminal: the first passphrase is set at a terminal if there is no screen; from
// then on it is the only proof there, and in the journal.
func TestPassphraseAtATerminal(t *testing.T) {
	v := newVictim(t)
	if code, said := v.typed([]string{"2", phrase, phrase + "x"}, "consent", "passphrase"); code != 2 || !strings.Contains(said, "differ") {
		t.Fatalf("%d, %s", code, said)
	}
	code, said := v.typed([]string{"2", phrase, phrase}, "consent", "passphrase")
	assert.Equal(t, code, 0, said)
	assert.Assert(t, !strings.Contains(said, phrase), said)
	grant := []string{"consent", "grant", exampleApp, "echo", "--caller", "cli:terminal"}
	for name, c := range map[string]struct {
		lines []string
		args  []string
	}{
		"a wrong one":      {[]string{"2", "another phrase"}, grant},
		"no":               {[]string{"1"}, grant},
		"to change it":     {[]string{"2", "another phrase", "my own phrase", "my own phrase"}, []string{"consent", "passphrase"}},
		"an app, a number": {[]string{"2", "another phrase"}, []string{"exec", exampleApp, "echo", `{"v": "x"}`}},
	} {
		code, said := v.typed(c.lines, c.args...)
		assert.Check(t, is.Equal(code, 4), "%s %s", name, said)
		code, said = v.typed([]string{"2", phrase}, "mode", "normal")
		assert.Check(t, name != "no" || code == 0, "the right one after it: %d, %s", code, said)
	}
	code, said = v.run(nil, grant...)
	assert.Check(t, is.Equal(code, 4), "without a terminal: %d, %s", code, said)
	code, said = v.typed([]string{"2", phrase}, grant...)
	assert.Equal(t, code, 0, said)
	code, said = v.run(nil, "exec", exampleApp, "echo", `{"v": "hello"}`)
	assert.Check(t, is.Equal(code, 0), "what was granted is not open: %d, %s", code, said)
	calls := v.journal(t)
	i := slices.IndexFunc(calls, func(p journalCall) bool { return p.tool == "consent_grant" && p.result == "ok" })
	assert.Check(t, i >= 0, "on record: %+v", calls)
	assert.Check(t, is.Equal(calls[i].consent, "confirmed (passphrase)"), "%+v", calls)
	last := calls[len(calls)-1]
	assert.Assert(t, strings.HasPrefix(last.consent, "always since "), "on record: %+v", last)
	assert.Assert(t, strings.HasSuffix(last.consent, " (passphrase), not sealed"), "on record: %+v", last)
	eachFile(t, v.folder, func(file string, b []byte) {
		assert.Check(t, !strings.Contains(string(b), phrase), "%s has the passphrase", file)
	})
}

// TestNoFirstPassphraseInANamespace: a user namespace can hide the user's screen, so no first
// passphrase can be set in one; an existing one is valid there.
func TestNoFirstPassphraseInANamespace(t *testing.T) {
	v := newVictim(t)
	v.env = append(v.env, "WHOLE=1")
	v.front = []string{"unshare", "--user", "--map-current-user", "--mount", "--net"}
	code, said := v.typed([]string{"2", phrase, phrase}, "consent", "passphrase")
	assert.Equal(t, code, 4)
	assert.Assert(t, !strings.Contains(said, "A new passphrase"), said)
	assert.Assert(t, is.Contains(said, "user namespace"))
	assert.Assert(t, is.Contains(said, "terminal of the computer itself"))
	code, said = v.typed([]string{"2", phrase}, "mode", "normal")
	assert.Check(t, code == 0 || code == 4, "there is a passphrase: %d, %s", code, said)
	assert.Check(t, !strings.Contains(said, "passphrase of this gateway"), "there is a passphrase: %d, %s", code, said)
	v.front, v.env = nil, v.env[:len(v.env)-1] // outside of any namespace
	code, said = v.typed([]string{"2", phrase, phrase}, "consent", "passphrase")
	assert.Equal(t, code, 0, said)
	v.front, v.env = []string{"unshare", "--user", "--map-current-user"}, append(v.env, "WHOLE=1")
	code, said = v.typed([]string{"2", phrase}, "consent", "grant", exampleApp, "echo", "--caller", "cli:terminal")
	assert.Check(t, is.Equal(code, 0), said)
}

// TestChecksBeforeProof: invalid calls fail before the passphrase prompt.
func TestChecksBeforeProof(t *testing.T) {
	v := newVictim(t)
	own := v.env
	v.env = append(slices.Clone(own), "XDG_DATA_HOME="+filepath.Join(v.folder, "elsewhere"))
	code, said := v.typed([]string{"2", phrase, phrase}, "consent", "passphrase")
	assert.Equal(t, code, 1)
	assert.Assert(t, !strings.Contains(said, "Your choice"), "where no passphrase can be kept: %d, %s", code, said)
	assert.Assert(t, is.Contains(said, "the account's own HOME"))
	v.env = own
	code, said = v.typed([]string{"2", phrase, phrase}, "consent", "passphrase")
	assert.Equal(t, code, 0, said)
	for _, args := range [][]string{{exampleApp, "ecko"}, {"org.example.Nothing", "echo"}} {
		code, said := v.typed([]string{"2", phrase}, append([]string{"consent", "grant", "--caller", "*"}, args...)...)
		assert.Check(t, is.Equal(code, 3), "%q %s", args, said)
		assert.Check(t, !strings.Contains(said, "Your choice"), "grant %q: %d, %s", args, code, said)
	}
}

// TestAWindowProvesIt: with a screen, the question appears there for every door, and the answer
// takes effect and is in the journal; neither passphrase nor terminal replace it.
func TestAWindowProvesIt(t *testing.T) {
	v := newVictim(t)
	code, said := v.typed([]string{"2", phrase, phrase}, "consent", "passphrase")
	assert.Equal(t, code, 0, said)
	s := linuxtest.Start(t)
	v.env = append(v.env, "DISPLAY="+s.Display)
	for _, c := range []struct {
		keys, args string
		code       int
	}{
		{"Escape", "mode normal --yes", 4}, {"Return", "exec aai mode_set {\"mode\":\"normal\"}", 4}, {"Tab space", "consent grant org.example.App echo --caller cli:terminal", 0},
	} {
		v.write(t, ".local/share/aai-gateway/mode", "safe\n")
		cmd := v.command(t.Context(), strings.Fields(c.args)...)
		cmd.Env = v.env
		ended := make(chan int, 1)
		go func() {
			_, err := cmd.CombinedOutput()
			ended <- exitOf(t, err)
		}()
		for code := -1; code < 0; {
			select {
			case code = <-ended:
				assert.Check(t, is.Equal(code, c.code), "%s, and the person presses %s: %d", c.args, c.keys, code)
			case <-time.After(2 * time.Second): // a key that is too early is ignored, and pressed again
				if strings.HasPrefix(s.ActiveWindow(t), "AAI Gateway") {
					press := exec.CommandContext(t.Context(), "xdotool", append([]string{"key", "--delay", "50"}, strings.Fields(c.keys)...)...)
					press.Env = s.Env
					_ = press.Run()
				}
			}
		}
	}
	var words []string
	for _, p := range v.journal(t) {
		words = append(words, p.tool+" "+p.result+" "+p.consent)
	}
	assert.Check(t, is.Equal(words[len(words)-1], "consent_grant ok confirmed (native)"), "on record: %q", words)
}
