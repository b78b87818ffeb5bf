package policy

import (
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
	line("Caller", "%s (the name it gives itself)", r.Call.Caller)
	line("App", "%q, %s", aai.CleanLabel(r.App.Name, 60), r.App.ID)
	if r.App.Source != "" {
		line("From", "%s", aai.CleanLabel(r.App.Source, 200))
	}
	if r.Target != r.App {
		line("Acts on", "%q, %s", aai.CleanLabel(r.Target.Name, 60), r.Target.ID)
	}
	line("Tool", "%s: %q", r.Tool.Name, aai.CleanLabel(r.Tool.Description, 300))
	line("Effect", "%s", effectWords(r.Tool.Effect))
	line("With", "%s", shownArgs(r))
	if changed {
		text.WriteString("You allowed this before, but the app's descriptor has changed since then.\n")
	}
	choices := []aai.Choice{
		{ID: choiceDeny, Label: "Deny"},
		{ID: choiceOnce, Label: "Allow this once"},
		{ID: choiceAlways, Label: "Always allow this tool"},
		{ID: choiceAll, Label: fmt.Sprintf("Always allow all %d tools this app has now", len(r.App.Tools))},
		{ID: choiceNever, Label: "Never allow this tool"},
	}
	if r.Call.Caller.Session != "" {
		choices = append(choices[:2], append([]aai.Choice{{ID: choiceSession, Label: "Allow this tool in this session"}}, choices[2:]...)...)
	}
	return aai.Question{
		ID:       questionID,
		Channels: []aai.Channel{aai.Native, aai.Terminal, aai.Client},
		Title:    fmt.Sprintf("Allow %s to use %s of %s?", r.Call.Caller, r.Tool.Name, aai.CleanLabel(r.App.Name, 60)),
		Text:     strings.TrimRight(text.String(), "\n"),
		Choices:  choices,
		Seal:     c.seals.seal(binding(r), now),
	}
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
	b, err := json.Marshal(r.ShownArgs())
	if err != nil {
		return "parameters that cannot be shown"
	}
	return aai.CleanLabel(string(b), maxShown)
}

// binding is what an answer is bound to: who asks for what, exactly.
func binding(r *aai.Request) [sha256.Size]byte {
	b, err := json.Marshal([]any{r.Call.Caller, r.App.ID, r.Target.ID, r.App.Digest, r.Tool.Name, r.Call.Args})
	if err != nil {
		// Arguments come from JSON, so this cannot be; if it is, no answer fits.
		b = []byte(err.Error())
	}
	return sha256.Sum256(b)
}
