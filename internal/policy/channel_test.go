package policy

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestChannels checks that the client may ask only for reversible tools, and only if the
// person trusts it for that caller.
func TestChannels(t *testing.T) {
	var (
		safest   = []aai.Channel{aai.DesktopDialog, aai.Terminal}
		byClient = []aai.Channel{aai.Client, aai.DesktopDialog, aai.Terminal}
	)
	stranger := notesApp("d1")
	stranger.ID = "example.com/org.example.Notes"
	player := &aai.Tool{Name: "play", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{MayStartProgram: true})}
	starting := program("shell", "s1")
	starting.PID = 0
	for name, c := range map[string]struct {
		elicitation []string
		request     *aai.Request
		want        []aai.Channel
		all         bool // is offered
	}{
		"nobody said anything":       {nil, asking(notesApp("d1"), "list"), safest, true},
		"reads":                      {[]string{agent().Identity}, asking(notesApp("d1"), "list"), byClient, false},
		"changes":                    {[]string{"/usr/bin/other", agent().Identity}, asking(notesApp("d1"), "add"), byClient, false},
		"destroys":                   {[]string{Wildcard}, asking(notesApp("d1"), "wipe"), safest, true},
		"reads, and starts":          {[]string{Wildcard}, asking(notesApp("d1", player), "play"), safest, true},
		"a name":                     {[]string{"claude-ai"}, asking(notesApp("d1"), "list"), safest, true},
		"nobody by nothing":          {[]string{""}, nameless(asking(notesApp("d1"), "list")), safest, false},
		"a host that is new":         {[]string{Wildcard}, asking(stranger, "list"), safest, true},
		"to see a window":            {[]string{Wildcard}, operating(program("editor", "e"), "look"), byClient, false},
		"to scroll may be to delete": {[]string{Wildcard}, operating(program("editor", "e"), "scroll"), safest, true},
		"to click":                   {[]string{Wildcard}, operating(program("editor", "e"), "click"), safest, true},
		"to start":                   {[]string{Wildcard}, operating(starting, "scroll"), safest, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk()
			d.elicitation = c.elicitation
			q := d.question(t, c.request)
			assert.Check(t, slices.Equal(q.Channels, c.want), "%q", q.Channels)
			all := slices.ContainsFunc(q.Choices, func(c aai.Choice) bool { return c.ID == choiceAll })
			assert.Check(t, is.Equal(all, c.all), "all is offered: %v", all)
			// An answer through another channel does not count.
			if !slices.Contains(c.want, aai.Client) {
				r := answered(c.request, q, choiceOnce)
				r.Call.Answers[q.ID] = aai.Answer{Choice: choiceOnce, Seal: q.Seal, Channel: aai.Client}
				d.refuses(t, r, aai.ConsentRequired)
			}
		})
	}
}

// nameless returns the request of a caller without an identity.
func nameless(r *aai.Request) *aai.Request {
	r.Call.Caller.Identity = ""
	return r
}

// TestAllThroughTheClient checks that the client offers "all" if it may ask for all tools
// of the app.
func TestAllThroughTheClient(t *testing.T) {
	app := notesApp("d1")
	app.Tools = app.Tools[:2] // the third destroys
	d := newDesk()
	d.elicitation = []string{Wildcard}
	q := d.question(t, asking(app, "list"))
	assert.Check(t, slices.ContainsFunc(q.Choices, func(c aai.Choice) bool { return c.ID == choiceAll }), "%+v", q.Choices)
}

// TestNobodySaid checks that a missing answer and a refusal result in different errors.
func TestNobodySaid(t *testing.T) {
	d, app := newDesk(), notesApp("d1")
	no := d.refusal(t, d.choose(t, app, "add", choiceDeny), aai.PermissionDenied)
	none := d.refusal(t, d.choose(t, app, "add", ""), aai.PermissionDenied)
	assert.Check(t, no.Message != none.Message, no.Message)
}

// TestTerminalWhereWindowsFail checks that a terminal may allow one call of the command
// line if no dialog can be shown, and nothing more.
func TestTerminalWhereWindowsFail(t *testing.T) {
	d := newDesk()
	d.authenticator, d.dialogUnavailable = &somebody{way: aai.DesktopDialog}, func() bool { return true }
	r := asking(notesApp("d1"), "list")
	r.Call.Caller.Door = aai.DoorCLI
	q := d.question(t, r)
	assert.Check(t, slices.Equal(q.Channels, []aai.Channel{aai.DesktopDialog, aai.Terminal}), "%q", q.Channels)
	assert.Check(t, !slices.ContainsFunc(q.Choices, func(c aai.Choice) bool { return c.ID != choiceDeny && c.ID != choiceOnce }), "%+v", q.Choices)
}
