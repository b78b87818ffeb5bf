package policy

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/gybob/aai-gateway"
)

// maxTerm is the limit for each term in a grant, in bytes.
const maxTerm = 300

// Terms are a cleaned summary of the terms that a person accepted. A grant stores them so
// that a later question can describe changes. The digest, not the summary, binds the
// grant.
type Terms struct {
	App         string `json:"app,omitempty"`
	Description string `json:"description,omitempty"`
	Effect      string `json:"effect,omitempty"`
	Parameters  string `json:"parameters,omitempty"` // their JSON Schema
	Runs        string `json:"runs,omitempty"`
	Program     string `json:"program,omitempty"` // path of the operated program; the only field of apps that operate others
}

// termsOf returns the terms of the permission.
func termsOf(r *aai.Request, permission string) Terms {
	if r.App.OperatesOthers() {
		return Terms{Program: aai.CleanLabel(r.Call.Target.Source, maxTerm)}
	}
	t := r.App.Tool(permission)
	if t == nil {
		return Terms{}
	}
	return Terms{
		App:         aai.CleanLabel(r.App.Name, maxTerm),
		Description: aai.CleanLabel(t.Description, maxTerm),
		Effect:      t.Effect.String(),
		Parameters:  aai.CleanLabel(compact(t.Params.Source), maxTerm),
		Runs:        aai.CleanLabel(t.Implementation.Summary, maxTerm),
	}
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}

// changedTerms describes, one change per line, how the terms differ from those of the
// grant, in the descriptor's words.
func (w words) changedTerms(r *aai.Request, old Grant) lines {
	const size = 120 // of each term, in bytes
	was, now := old.Terms, termsOf(r, r.Permission())
	var text lines
	if r.App.OperatesOthers() {
		text.addOwn(w.otherProgram, old.GrantedAt.Local().Format(time.DateOnly))
	} else {
		text.addOwn(w.changed, old.GrantedAt.Local().Format(time.DateOnly))
	}
	for _, term := range []struct{ name, was, now string }{
		{w.app, was.App, now.App}, {w.says, was.Description, now.Description}, {w.effectName, was.Effect, now.Effect},
		{w.parameters, was.Parameters, now.Parameters}, {w.runs, was.Runs, now.Runs}, {w.program, was.Program, now.Program},
	} {
		if term.was != term.now && was != (Terms{}) {
			text.addQuoted(w.was, term.name, quoteTruncated(term.was, size), quoteTruncated(term.now, size))
		}
	}
	if len(text) == 1 {
		text.addQuoted("%s", w.more)
	}
	return text
}
