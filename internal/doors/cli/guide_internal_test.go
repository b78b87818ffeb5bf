package cli

import (
	"encoding/json"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
)

// TestGuidesAsCommands checks that a guide at a terminal shows commands.
func TestGuidesAsCommands(t *testing.T) {
	for line, want := range map[string]string{
		"Example: aai_exec({\"app\": \"a.b\", \"tool\": \"say\", \"args\": {\"word\": \"it's\"}})\n":                              "Example: aai-gateway exec a.b say '{\"word\": \"it'\\''s\"}'\n",
		"The next page: aai_exec({\"app\": \"aai\", \"tool\": \"guide\", \"args\": {\"app\": \"a.b\", \"after\": \"x y\"}})\n":    "The next page: aai-gateway guide a.b --after 'x y'\n",
		"Or: aai_exec({\"app\": \"aai\", \"tool\": \"search\", \"args\": {\"words\": \"…\", \"app\": \"a.b\"}}). The groups: a\n": "Or: aai-gateway search --app a.b …. The groups: a\n",
		"Use the aai_exec tool to run these operations.\n":                                                                        "Run them with: aai-gateway exec <app> <tool> --arg name=value\n",
		"A stranger writes aai_exec(nonsense)\n":                                                                                  "A stranger writes aai_exec(nonsense)\n",
	} {
		assert.Check(t, is.Equal(asCommands(line), want), "%q", line)
	}
	assert.Check(t, is.Equal(command(answer.PreparedCall{App: "a;b", Tool: "t", Args: json.RawMessage(`{}`)}), `aai-gateway exec 'a;b' t '{}'`))
}

// TestFlagErrorsInPlainWords checks that errors of flags do not contain the terms of a library.
func TestFlagErrorsInPlainWords(t *testing.T) {
	for given, want := range map[string]string{
		`invalid argument "x" for "--limit" flag: strconv.ParseInt: parsing "x": invalid syntax`: `invalid argument "x" for "--limit" flag: expected a whole number`,
		`invalid argument "x" for "--yes" flag: strconv.ParseBool: parsing "x": invalid syntax`:  `invalid argument "x" for "--yes" flag: expected true or false`,
		`unknown flag: --x`: `unknown flag: --x`,
	} {
		assert.Check(t, is.Equal(plainFlagError(given), want))
	}
}

// TestOperable checks that the check fails if windows cannot be read, or if there is no screen.
func TestOperable(t *testing.T) {
	found := func(names ...string) any {
		values := map[string]any{}
		for _, name := range names {
			values[name] = map[string]any{"value": ":0", "from": "the own environment"}
		}
		return map[string]any{"found": values}
	}
	for _, c := range []struct {
		data map[string]any
		want bool
	}{
		{map[string]any{"enabled": true, "session": found("DISPLAY")}, true},
		{map[string]any{"enabled": true, "session": found("WAYLAND_DISPLAY")}, true},
		{map[string]any{"enabled": true, "session": found("DBUS_SESSION_BUS_ADDRESS")}, false},
		{map[string]any{"enabled": false, "session": found("DISPLAY")}, false},
		{map[string]any{"enabled": true}, true},
		{map[string]any{}, false},
	} {
		v, err := decodeView[checkView](c.data)
		if err != nil || v.isInoperable() == c.want {
			t.Errorf("%v: %v, %v", c.data, !v.isInoperable(), err)
		}
	}
}

// TestCheckLoop: the command ends after many events in a row that came while the workflow ran, but not for events between.
func TestCheckLoop(t *testing.T) {
	now := time.Now()
	event := func(at time.Time) any { return map[string]any{"timestamp": at.Format(time.RFC3339Nano)} }
	e := &eventRuns{runs: []runTime{{now, now.Add(time.Second)}}}
	during, before := event(now.Add(time.Second/2)), event(now.Add(-time.Second))
	for range maxOwnEvents - 1 {
		assert.NilError(t, e.checkLoop(during))
	}
	assert.NilError(t, e.checkLoop(before))
	for range maxOwnEvents - 1 {
		err := e.checkLoop(during)
		assert.NilError(t, err, "an event from outside does not count: %v", err)
	}
	assert.Check(t, e.checkLoop(during) != nil, "a workflow that causes its own event goes on")
}
