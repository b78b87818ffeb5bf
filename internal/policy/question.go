package policy

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"aai"
)

// maxShown is how many bytes of a call's arguments a question shows.
const maxShown = 400

// question words what a person has to decide. Everything that comes from the
// descriptor or the caller is cleaned and quoted.
func (c *Consent) question(r *aai.Request, changed bool, now time.Time) aai.Question {
	var text strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&text, "%-8s %s\n", name+":", fmt.Sprintf(format, args...))
	}
	line("Caller", "%q (the name it gives itself)", r.Call.Caller.String())
	line("App", "%q, %s", aai.CleanLabel(r.App.Name, 60), aai.CleanLabel(r.App.ID, 200))
	if r.App.Source != "" {
		line("From", "%s", aai.CleanLabel(r.App.Source, 200))
	}
	if r.Target != r.App {
		line("Acts on", "%q, %s", aai.CleanLabel(r.Target.Name, 60), aai.CleanLabel(r.Target.ID, 200))
	}
	tool := aai.CleanLabel(r.Tool.Name, 64)
	line("Tool", "%s: %q", tool, aai.CleanLabel(r.Tool.Description, 300))
	line("Effect", "%s", effectWords(r.Effect()))
	line("With", "%s", shownArgs(r))
	if changed {
		what := "the app's descriptor has changed since then"
		if r.App.Targets != nil {
			what = "for another program of that name"
		}
		text.WriteString("You allowed this before, but " + what + ".\n")
	}
	return aai.Question{
		ID:       questionID,
		Channels: channels(),
		Title:    title(r),
		Text:     strings.TrimRight(text.String(), "\n"),
		Choices:  choices(r),
		Seal:     c.seals.seal(binding(r), now),
	}
}

// channels are the ways in which consent may be asked, best first.
func channels() []aai.Channel { return []aai.Channel{aai.Native, aai.Terminal, aai.Client} }

// title asks for the permission in one line.
func title(r *aai.Request) string {
	if r.App.Targets == nil {
		return fmt.Sprintf("Allow %s to use %s of %s?", r.Call.Caller, aai.CleanLabel(r.Tool.Name, 64), aai.CleanLabel(r.App.Name, 60))
	}
	return fmt.Sprintf("Allow %s to %s?", r.Call.Caller, windowWords(r, r.Permission()))
}

// windowWords says what a permission for windows allows, "" being to see and to
// act.
func windowWords(r *aai.Request, permission string) string {
	of := "the windows of " + aai.CleanLabel(r.Target.Name, 60)
	if r.Target == r.App {
		of = "the whole screen and the clipboard"
	}
	switch permission {
	case aai.PermissionSee:
		return "see " + of
	case aai.PermissionAct:
		return "click and type in " + of
	case aai.PermissionStart:
		return "start " + aai.CleanLabel(r.Target.Name, 60) + ", with any arguments"
	}
	return "see " + of + ", and click and type in them"
}

// choices are the answers that the request leaves a person. The refusal comes
// first; "this session" is offered where there is one.
func choices(r *aai.Request) []aai.Choice {
	this, all := "this tool", fmt.Sprintf("Always allow all %d tools this app has now", len(r.App.Tools))
	if r.App.Targets != nil {
		this, all = "it to "+windowWords(r, r.Permission()), "Always allow it to "+windowWords(r, "")
	}
	offered := []aai.Choice{{ID: choiceDeny, Label: "Deny"}, {ID: choiceOnce, Label: "Allow this once"}}
	if r.Call.Caller.Session != "" {
		offered = append(offered, aai.Choice{ID: choiceSession, Label: "Allow " + this + " in this session"})
	}
	offered = append(offered, aai.Choice{ID: choiceAlways, Label: "Always allow " + this})
	if r.App.Targets == nil || len(permissions(r)) > 1 {
		offered = append(offered, aai.Choice{ID: choiceAll, Label: all})
	}
	return append(offered, aai.Choice{ID: choiceNever, Label: "Never allow " + this})
}

func effectWords(e aai.Effect) string {
	switch e {
	case aai.Reads:
		return "only reads"
	case aai.Changes:
		return "changes something that can be changed back"
	case aai.Destroys:
	}
	return "may send, delete or change things for good"
}

func shownArgs(r *aai.Request) string {
	if len(r.Call.Args) == 0 {
		return "no parameters"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read it
	if err := e.Encode(r.ShownArgs()); err != nil {
		return "parameters that cannot be shown"
	}
	text := strings.TrimSpace(b.String())
	shown := aai.CleanLabel(text, maxShown)
	if len(text) > maxShown {
		shown += fmt.Sprintf(" (the beginning of %d bytes)", len(text))
	}
	return shown
}

// binding is what an answer is bound to: who asks for what, exactly.
func binding(r *aai.Request) [sha256.Size]byte {
	b, err := json.Marshal([]any{r.Call.Caller, r.App.ID, r.Target.ID, r.Digest(), r.Tool.Name, r.Call.Args})
	if err != nil {
		// Arguments come from JSON, so this cannot be; if it is, no answer fits.
		b = []byte(rand.Text())
	}
	return sha256.Sum256(b)
}
