package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"aai"
	"aai/internal/hygiene"
)

// Own is the gate in front of the gateway's own app. What an agent may use of
// the gateway is listed by name; what else only reads is for the doors behind which a
// person sits; and what changes anything is for a person who proves that it is they,
// whatever the door: whoever types a command may be a program.
type Own struct {
	cfg   OwnConfig
	seals *sealer
	now   func() time.Time
}

// OwnConfig is what the gate stands on.
type OwnConfig struct {
	// Open names the tools of the app "aai" that every door may use.
	Open []string
	// Asked reports whether a request of a tool that is open and reads is for an agent only
	// after a person has allowed it: the gate of consent asks. Nil: none is.
	Asked func(*aai.Request) bool
	// Personal names the doors behind which a person sits.
	Personal []string
	// Narrows reports whether the request, which is for a tool that does not only read,
	// widens nothing: then it needs no proof behind the personal doors. Nil: never.
	Narrows func(*aai.Request) bool
	// First names the tool by which the first proof is made, the passphrase: where there
	// is no way yet, it is asked about at a terminal.
	First string
	// Hidden says why the person may have a screen that cannot be reached from here, or, as
	// an *aai.Error, why the first proof cannot be kept: then it is not made at a terminal.
	// Nil: nothing is hidden.
	Hidden func(context.Context) error
	// Person is asked to prove; nil: nobody can, and nothing is changed.
	Person Person
	// Language is as in ConsentConfig.
	Language func() string
}

// NewOwn returns the gate. The zero Own is one of nobody.
func NewOwn(cfg OwnConfig) *Own { return &Own{cfg, newSealer(), time.Now} }

// ownQuestion names the gate's question among those of its call.
const ownQuestion = "proof"

// Proof returns by which way it was proved that a person wants the call: "" for none.
func Proof(call *aai.Call) aai.Channel { return call.Answers[ownQuestion].Channel }

// The choices of the question.
const (
	choiceNo  = "no"
	choiceYes = "yes"
)

// Check admits calls to other apps, and to the gateway's own app what may be used, or
// asks for the proof.
func (o *Own) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.App.ID != aai.OwnApp {
		return nil, nil
	}
	personal := slices.Contains(o.cfg.Personal, r.Call.Caller.Door)
	switch reads := r.Tool.Effect == aai.Reads; {
	case reads && slices.Contains(o.cfg.Open, r.Tool.Name) && o.cfg.Asked != nil && o.cfg.Asked(r):
		return nil, nil // the gate of consent asks
	case (reads || onlyCalls(r.App, r.Tool)) && (personal || slices.Contains(o.cfg.Open, r.Tool.Name)):
		r.Consent = "own"
		return nil, nil
	case reads:
		e := aai.Errorf(aai.PermissionDenied, "%s is for the person at this computer, not for %s", r.Tool.Name, r.Call.Caller)
		e.Hint = "Ask the person to run aai-gateway at a terminal; its help lists the commands."
		return nil, e
	case personal && o.cfg.Narrows != nil && o.cfg.Narrows(r):
		r.Consent = "own, it widens nothing"
		return nil, nil
	}
	way, err := o.way(ctx, r, personal)
	if err != nil {
		return nil, err
	}
	if answer, ok := r.Call.Answers[ownQuestion]; ok {
		return nil, o.judge(ctx, r, answer, way)
	}
	q, err := o.question(r, way)
	if err != nil {
		return nil, err
	}
	return []aai.Question{q}, nil
}

// onlyCalls reports whether the tool is the gateway's own and does nothing but make calls,
// about each of which every gate is asked.
func onlyCalls(app *aai.App, tool *aai.Tool) bool {
	return tool.Calls && (app.ID == aai.OwnApp || app.ID == aai.DesktopApp)
}

// way is how the request can be proved now, or why in none.
func (o *Own) way(ctx context.Context, r *aai.Request, personal bool) (aai.Channel, error) {
	if o.cfg.Person == nil {
		return "", unproved(r, nil)
	}
	way := o.cfg.Person.Way(ctx)
	switch {
	case way != "":
		return way, nil
	case !personal:
		return "", unproved(r, nil)
	}
	var why error
	if o.cfg.Hidden != nil {
		why = o.cfg.Hidden(ctx)
	}
	switch {
	case r.Tool.Name != o.cfg.First:
		return "", unproved(r, why)
	case why != nil:
		return "", hidden(why)
	}
	return aai.Terminal, nil
}

// hidden is the error of a first passphrase where a window might not be seen, or where it
// cannot be kept.
func hidden(why error) *aai.Error {
	if e, known := errors.AsType[*aai.Error](why); known {
		return e
	}
	e := aai.Errorf(aai.PermissionDenied, "a first passphrase cannot be set here: %s", why)
	e.Hint = "Set it where you are asked in a window, or at a terminal of the computer itself. A container that shares the folder " +
		"in which the gateway keeps its data has it then; one without a user namespace of its own can set it, or have " + PolicyFile + "."
	return e
}

// unproved says the ways that a person has where none is there, and why no passphrase can be
// set here, if that is so.
func unproved(r *aai.Request, unset error) *aai.Error {
	e := aai.Errorf(aai.PermissionDenied, "%s changes the gateway itself, and there is neither a screen nor a passphrase by which a person could prove that they want it", r.Tool.Name)
	e.Hint = "Set a passphrase at a terminal: aai-gateway consent passphrase."
	if unset != nil {
		why := hidden(unset)
		e.Message += "; " + why.Message
		e.Hint = why.Hint
	}
	e.Hint += " For unattended runs root writes what is allowed into " + PolicyFile + "."
	return e
}

// PolicyFile is where root says for everybody what is allowed.
const PolicyFile = "/etc/aai-gateway/policy.json"

// Root is the channel of what root says there, for the record: nobody was asked.
const Root aai.Channel = "policy"

// judge acts on the answer.
func (o *Own) judge(ctx context.Context, r *aai.Request, a aai.Answer, way aai.Channel) error {
	err := o.seals.open(a.Seal, binding(r), o.now())
	if err == nil && a.Channel != way {
		err = errChannel
	}
	if err != nil {
		return foreign(err)
	}
	if a.Choice != choiceYes {
		e := aai.Errorf(aai.PermissionDenied, "the person at this computer did not confirm %s; nothing was changed", r.Tool.Name)
		e.Hint = "Do not try again unless the person asks for it."
		return e
	}
	if way == aai.Passphrase {
		if err := o.cfg.Person.Check(ctx, a.Secret); err != nil {
			return err
		}
	}
	r.Consent = fmt.Sprintf("confirmed (%s)", way)
	return nil
}

// maxArguments is how much of arguments fits into one page of the smallest dialog, in
// bytes. What a person cannot see whole they are not asked about.
const maxArguments = 500

// question asks whether the person wants the change, with all that it says.
func (o *Own) question(r *aai.Request, way aai.Channel) (aai.Question, error) {
	shown, size := argumentLines(r)
	if size > maxArguments {
		e := aai.Errorf(aai.InvalidParams, "the arguments of %s have %d bytes; expected at most %d, which a person can be shown whole", r.Tool.Name, size, maxArguments)
		e.Hint = "Do it in several steps, or have root write it into " + PolicyFile + "."
		return aai.Question{}, e
	}
	language := ""
	if o.cfg.Language != nil {
		language = o.cfg.Language()
	}
	w := wordsIn(language)
	text := w.whoAsks(r.Call.Caller)
	text.ours(w.door, plain(r.Call.Caller.Door))
	if len(shown) == 0 {
		text.ours("%s", w.noParams)
	} else {
		text.ours("%s", w.with)
	}
	text = append(text, shown...)
	text.ours("%s", w.notYou)
	return aai.Question{
		ID: ownQuestion, Channels: []aai.Channel{way}, Title: fmt.Sprintf(w.wanted, ownDeedOf(r, language)),
		Text:    strings.Join(text, "\n"),
		Choices: []aai.Choice{{ID: choiceNo, Label: w.no}, {ID: choiceYes, Label: w.yes}},
		Seal:    o.seals.seal(binding(r), o.now()),
	}, nil
}

// argumentLines are the arguments, a line each, and how many bytes they have.
func argumentLines(r *aai.Request) (text lines, size int) {
	shown := withoutDefaults(r.Tool, r.ShownArgs())
	add := func(name string, value any) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // people read it
		if err := e.Encode(value); err != nil {
			b.WriteString("?")
		}
		line := aai.QuoteMark + hygiene.EscapeUnseen(name+": "+strings.TrimSpace(b.String()))
		text, size = append(text, line), size+len(line)+1
	}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		list, _ := shown[name].([]any)
		if len(list) == 0 {
			add(name, shown[name])
		}
		for i, item := range list {
			object, isObject := item.(map[string]any)
			if !isObject {
				add(fmt.Sprintf("%s %d", name, i+1), item)
			}
			for _, member := range slices.Sorted(maps.Keys(object)) {
				add(fmt.Sprintf("%s %d, %s", name, i+1, member), object[member])
			}
		}
	}
	return text, size
}
