package policy

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"aai"
)

// maxShown is how many bytes of a call's arguments a question shows.
const maxShown = 400

// question words what a person has to decide. Everything that comes from the
// descriptor or the caller is cleaned and in one block of quoted lines.
func (c *Consent) question(r *aai.Request, old *Grant, now time.Time) aai.Question {
	w := c.words()
	var text strings.Builder
	line := func(name, value string) { fmt.Fprintf(&text, "%s: %s\n", name, value) }
	line(w.program, orElse(aai.CleanLabel(r.Call.Caller.Identity, maxPath), w.unknown))
	line(w.id, aai.CleanLabel(r.App.ID, maxPath))
	if host, _, web := strings.Cut(r.App.ID, "/"); web && fromTheWeb(r.App) {
		line(w.host, ascii(host))
		if len(r.App.Hosts) > 0 {
			line(w.hosts, aai.CleanLabel(strings.Join(r.App.Hosts, ", "), maxPath))
		}
	}
	if r.Target != r.App {
		line(w.target, aai.CleanLabel(r.Target.ID, maxPath)+", "+aai.CleanLabel(r.Target.Source, maxPath))
	} else if r.App.Source != "" {
		line(w.app, aai.CleanLabel(r.App.Source, maxPath))
	}
	if r.Permission() == aai.PermissionRun {
		text.WriteString(w.anyCommand + "\n")
	} else {
		text.WriteString(w.effect[r.Effect()] + "\n")
	}
	if old != nil {
		text.WriteString(strings.Join(w.changes(r, *old), "\n") + "\n")
	}
	text.WriteString(w.quoted + "\n")
	quote := func(name, value string) { line(aai.QuoteMark+name, value) }
	quote(w.caller, fmt.Sprintf("%q", r.Call.Caller.String()))
	quote(w.app, fmt.Sprintf("%q", aai.CleanLabel(r.Target.Name, 60)))
	quote(w.tool, fmt.Sprintf("%s: %q", aai.CleanLabel(r.Tool.Name, 64), aai.CleanLabel(r.Tool.Description, 300)))
	if r.Tool.Runs != "" {
		quote(w.runs, aai.CleanLabel(r.Tool.Runs, 200))
	}
	quote(w.with, w.args(r))
	return aai.Question{
		ID:       questionID,
		Channels: c.channels(r, r.Permission()),
		Title:    w.titleOf(r),
		Text:     strings.TrimRight(text.String(), "\n"),
		Choices:  c.choices(r),
		Seal:     c.seals.seal(binding(r), now),
	}
}

// maxPath is how many bytes of a path or an id a question shows.
const maxPath = 120

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// ascii shows a host without letters that only look like others.
func ascii(host string) string {
	return strings.Trim(strconv.QuoteToASCII(aai.CleanLabel(host, maxPath)), `"`)
}

// titleOf asks for the permission in one line.
func (w words) titleOf(r *aai.Request) string {
	caller := r.Call.Caller.String()
	if r.App.Targets == nil {
		return fmt.Sprintf(w.title, caller, aai.CleanLabel(r.Tool.Name, 64), aai.CleanLabel(r.App.Name, 60))
	}
	return fmt.Sprintf(w.titleWindows, caller, w.window(r, r.Permission()))
}

// choices are the answers that the request leaves a person. The refusal comes
// first; "this session" is offered where there is one, and "all" where all of it
// may be asked in the same way.
func (c *Consent) choices(r *aai.Request) []aai.Choice {
	w := c.words()
	offered := []aai.Choice{{ID: choiceDeny, Label: w.deny}, {ID: choiceOnce, Label: w.once}}
	if c.confirmsEach(r) || c.onlyNow(r) {
		return offered
	}
	if r.Call.Caller.Session != "" {
		offered = append(offered, aai.Choice{ID: choiceSession, Label: w.session})
	}
	if r.Call.Caller.Identity == "" {
		return append(offered, aai.Choice{ID: choiceNever, Label: w.never}) // nobody knows who would have it for good
	}
	offered = append(offered, aai.Choice{ID: choiceAlways, Label: w.always})
	if all := permissions(r); len(all) > 1 && c.askedAlike(r, all) {
		label := w.allWindows
		if r.App.Targets == nil {
			label = fmt.Sprintf(w.all, len(all))
		}
		offered = append(offered, aai.Choice{ID: choiceAll, Label: label})
	}
	return append(offered, aai.Choice{ID: choiceNever, Label: w.never})
}

// askedAlike reports whether all the permissions may be asked for in every way in
// which this one may: a yes by way of a client must not cover what a client may
// not ask.
func (c *Consent) askedAlike(r *aai.Request, all []string) bool {
	return c.channels(r, r.Permission())[0] != aai.Client || !slices.ContainsFunc(all, func(permission string) bool {
		return !slices.Contains(c.channels(r, permission), aai.Client)
	})
}

func (w words) args(r *aai.Request) string {
	if len(r.Call.Args) == 0 {
		return w.noParams
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read it
	if err := e.Encode(r.ShownArgs()); err != nil {
		return "?"
	}
	text := strings.TrimSpace(b.String())
	shown := aai.CleanLabel(text, maxShown)
	if len(text) > maxShown {
		shown += fmt.Sprintf(" (%d bytes)", len(text))
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
