package aai

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// An EntryKind says at which point of a call an Entry was made.
type EntryKind string

// Every call has a Received and an Outcome; one that was admitted has an Intent
// between them.
const (
	Received EntryKind = "received"
	Intent   EntryKind = "intent"
	Outcome  EntryKind = "outcome"
)

// An Entry is one line of the journal. Which fields are set depends on Kind.
type Entry struct {
	Kind   EntryKind
	Time   time.Time
	Call   string
	Parent string

	// Received: who asked for what, by name, before anything is known to be true.
	Caller    Caller
	App, Tool string

	// Intent: what is about to run.
	Target  string
	Effect  Effect
	Digest  string
	Consent string
	Args    map[string]any // without what the tool keeps secret

	// Outcome: how it ended. The empty Code is success.
	Code     Code
	Message  string
	Delivery Delivery
	Elapsed  time.Duration
}

// Durable reports whether the entry must be on disk before the call goes on:
// the intent of anything that is not Reads.
func (e *Entry) Durable() bool { return e.Kind == Intent && e.Effect != Reads }

// maxName is how much of a name that a caller made up the journal keeps, in bytes.
const maxName = 200

func received(c *Call, now time.Time) *Entry {
	caller := c.Caller
	caller.Name = CleanLabel(caller.Name, maxName)
	return &Entry{
		Kind: Received, Time: now, Call: c.ID, Parent: c.Parent, Caller: caller,
		App: CleanLabel(c.App, maxName), Tool: CleanLabel(c.Tool, maxName),
	}
}

func intent(r *Request, now time.Time) *Entry {
	return &Entry{
		Kind: Intent, Time: now, Call: r.Call.ID,
		App: r.App.ID, Tool: r.Tool.Name, Target: r.Target.ID,
		Effect: r.Effect(), Digest: r.Digest(), Consent: r.Consent,
		Args: r.ShownArgs(),
	}
}

func outcome(r *Request, err *Error, begun time.Time) *Entry {
	now := time.Now()
	e := &Entry{Kind: Outcome, Time: now, Call: r.Call.ID, Elapsed: now.Sub(begun)}
	if err != nil {
		e.Code, e.Message, e.Delivery = err.Code, CleanLabel(r.withoutSecrets(err.Message), 4*maxName), err.Delivery
	}
	return e
}

// redacted stands in the place of a value that must be neither kept nor shown.
const redacted = "[secret]"

// ShownArgs returns the call's arguments as the journal may keep them and a
// person may be shown them: without the values of the tool's secret parameters.
// The map is not to be changed.
func (r *Request) ShownArgs() map[string]any { return redact(r.Call.Args, r.Tool.Secret) }

func redact(args map[string]any, secret []string) map[string]any {
	var kept map[string]any
	for _, name := range secret {
		if _, given := args[name]; !given {
			continue
		}
		if kept == nil {
			kept = maps.Clone(args)
		}
		kept[name] = redacted
	}
	if kept == nil {
		return args
	}
	return kept
}

// withoutSecrets takes the values of the tool's secret parameters out of a text:
// an app may repeat in its error what it was given.
func (r *Request) withoutSecrets(text string) string {
	if r.Tool == nil {
		return text
	}
	var values []string
	for _, name := range r.Tool.Secret {
		values = appendTexts(values, r.Call.Args[name])
	}
	// The longest first, so that none leaves a part of another behind.
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, v := range values {
		text = without(text, v)
	}
	return text
}

// shortSecret is how many bytes a secret has that is found only where it stands by
// itself: taken out of the midst of words it would be told by what is left of them.
const shortSecret = 4

func without(text, secret string) string {
	if len(secret) >= shortSecret {
		return strings.ReplaceAll(text, secret, redacted)
	}
	wordy := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, secret)
		if !found {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(before)
		last, _ := utf8.DecodeLastRuneInString(b.String())
		next, _ := utf8.DecodeRuneInString(after)
		if wordy(last) || wordy(next) {
			b.WriteString(secret)
		} else {
			b.WriteString(redacted)
		}
		text = after
	}
}

// appendTexts adds the texts and numbers within a value, as a message may hold
// them.
func appendTexts(texts []string, value any) []string {
	switch v := value.(type) {
	case nil, bool:
	case map[string]any:
		for _, item := range v {
			texts = appendTexts(texts, item)
		}
	case []any:
		for _, item := range v {
			texts = appendTexts(texts, item)
		}
	default:
		if text := fmt.Sprint(v); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// record writes one entry. The caller's cancellation does not reach it: what
// has begun must end on record.
func (g *Gateway) record(ctx context.Context, e *Entry) (failure *Error) {
	defer func() {
		if p := recover(); p != nil {
			failure = recordFailed(panicked(p).Err)
		}
	}()
	if g.Journal == nil {
		return recordFailed(nil)
	}
	if err := g.Journal.Record(context.WithoutCancel(ctx), e); err != nil {
		return recordFailed(err)
	}
	return nil
}

func recordFailed(cause error) *Error {
	return &Error{
		Code:    RecordFailed,
		Message: "the journal cannot be written, so nothing was run",
		Hint:    "Look whether the disk is full and whether the journal's folder may be written to.",
		Err:     cause,
	}
}

// unrecorded makes of the failure to record an outcome what the caller must know
// about the call itself.
func unrecorded(late, err *Error) *Error {
	switch {
	case err == nil:
		late.Message = "the call ran, but its outcome could not be recorded"
		late.Delivery = Delivered
	case !err.RetrySafe():
		late.Message = "the call failed with " + string(err.Code) + ", and its outcome could not be recorded"
		late.Delivery = err.Delivery
	}
	return late
}
