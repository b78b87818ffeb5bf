package aai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// An EntryKind says at which point of a call an Entry was made.
type EntryKind string

// A call that reads, and one that is refused, is one Outcome. One that acts has an
// Intent before that. A Received stands before both where a person is asked, and where
// a call that reads has been under way for a second.
const (
	Received EntryKind = "received"
	Intent   EntryKind = "intent"
	Outcome  EntryKind = "outcome"
)

// An Entry is one line of the journal. The first one of a call, of whatever kind, says
// who asked (Caller, Parent) and for what; a later one repeats only the names.
type Entry struct {
	Kind   EntryKind
	Time   time.Time // of this line: the call began Elapsed before its Outcome
	Call   string
	Parent string
	Caller Caller

	// App, Tool and Target: what they turned out to be, or as they were asked for as
	// far as the call did not come.
	App, Tool, Target string

	// Admitted says that what follows is given: what is about to run. It is in the first
	// line that is made after the call was admitted.
	Admitted bool
	Effect   Effect
	Digest   string
	Consent  string
	Args     map[string]any // what is secret in them is a hygiene.Hidden

	// Outcome: how it ended. The empty Code is success, of which the Message says at most
	// that nothing was done.
	Code       Code
	Message    string
	Delivery   Delivery
	Elapsed    time.Duration
	PersonWait time.Duration // how much of Elapsed was spent on waiting for the person
	// Ran says that the tool's Action was begun: without it nothing can have happened.
	Ran bool
	// Element is what was acted on, or in an Intent what will be as far as that is known: a
	// reference means nothing later.
	Element TargetElement
	// ResultValue returns what a call answered that ended well, for a journal that keeps
	// such things: JSON values, what is secret in them a hygiene.Hidden. Nil for other calls.
	ResultValue func() any `json:"-"`
	// KeptDigest is the SHA-256 of what somebody beside the journal keeps of the answer.
	KeptDigest string

	// Precondition is asked when nothing else can come before the line any more, of any gateway:
	// with an error, which Record returns, the line is not written. Nil: nobody is asked. It
	// is quick, and makes no record itself.
	Precondition func() error `json:"-"`

	// Durable says that the entry must be on disk before the call goes on: before
	// anything acts, and before a person is asked.
	Durable bool
}

// maxName is how much of a name that a caller made up the journal keeps, in bytes.
const maxName = 200

// receivedEntry is what is known of a call when it comes in.
func receivedEntry(c *Call) Entry {
	caller := c.Caller
	caller.Name = CleanLabel(caller.Name, maxName)
	return Entry{
		Call: c.ID, Parent: c.Parent, Caller: caller,
		App: CleanLabel(c.App, maxName), Tool: CleanLabel(c.Tool, maxName),
	}
}

// record writes a line of the call: the first one says all that is known, a later one
// what has come since.
func (p *invocation) record(fill func(*Entry)) *Error {
	p.recordToken <- struct{}{}
	defer func() { <-p.recordToken }()
	return p.write(fill)
}

// write is record for whoever has the token of p.lines.
func (p *invocation) write(fill func(*Entry)) *Error {
	p.mu.Lock()
	e, door := p.entry, p.ctx
	p.mu.Unlock()
	if p.firstLineWritten {
		e.Parent, e.Caller = "", Caller{}
	}
	if p.admissionWritten {
		e.Admitted, e.Effect, e.Digest, e.Consent, e.Args = false, 0, "", "", nil
	}
	fill(&e)
	if err := p.g.record(door, &e); err != nil {
		return err
	}
	p.firstLineWritten, p.admissionWritten = true, p.admissionWritten || e.Admitted
	return nil
}

// recordLongRunning puts a call on record that has been under way for long and is not there.
func (p *invocation) recordLongRunning() {
	p.recordToken <- struct{}{}
	defer func() { <-p.recordToken }()
	p.mu.Lock()
	settled := p.settled
	p.mu.Unlock()
	if !p.firstLineWritten && !settled {
		_ = p.write(func(e *Entry) { e.Kind, e.Time = Received, time.Now() }) // the outcome says so if that fails too
	}
}

// outcome is the last line of a call. What the message says is told without secrets.
func (p *invocation) outcome(e callResult, said string) func(*Entry) {
	p.mu.Lock()
	ran, on, asked := p.actionStarted, p.element, p.personWait
	if !p.askingSince.IsZero() {
		asked = time.Since(p.askingSince)
	}
	p.mu.Unlock()
	return func(entry *Entry) {
		entry.Kind, entry.Time, entry.Ran, entry.Element = Outcome, time.Now(), ran, on
		entry.Elapsed, entry.PersonWait = entry.Time.Sub(p.started), asked
		if e.err != nil {
			entry.Code, entry.Message, entry.Delivery = e.err.Code, CleanLabel(said, 4*maxName), e.err.Delivery
			entry.Durable = len(e.err.Questions) > 0 && p.doorAsks()
		} else if e.result != nil {
			entry.ResultValue = func() any { return p.request.keptAnswer(e.result) }
			if e.result.NoOp {
				entry.Message = "nothing was done"
			}
		}
	}
}

// RedactedArgs returns the call's arguments as a person may be shown them: without the
// values of the tool's secret parameters, and of what is called like a secret at
// any depth. The map is not to be changed.
func (r *Request) RedactedArgs() map[string]any {
	return sanitize.Redact(r.Call.Args, r.SecretParams(), func(any) any { return sanitize.Redacted })
}

// hashedArgs is ShownArgs for the journal, which may tell whether two secrets are
// the same.
func (r *Request) hashedArgs() map[string]any {
	return sanitize.Redact(r.Call.Args, r.SecretParams(), func(value any) any { return sanitize.Hide(value) })
}

// keptAnswer returns what the call answered as the journal may keep it: no pictures,
// nothing called like a secret, and nothing that was a secret argument.
func (r *Request) keptAnswer(result *Result) any {
	kept := make(map[string]any)
	if r.Tool.PrivateResult {
		kept["text"] = sanitize.Hide(result.Text)
		return kept
	}
	texts := r.secretValues(r.SecretParams())
	data, _ := ToJSONValue(result.Data) // what cannot be written as JSON is not kept
	shown := sanitize.RedactValue(data, func(value any) any {
		texts = sanitize.AppendTexts(texts, value)
		return sanitize.Hide(value)
	})
	secrets := sanitize.NewRedactor(texts)
	if data != nil {
		kept["data"] = secrets.RedactValue(shown)
	}
	if result.Text != "" {
		kept["text"] = secrets.Redact(result.Text)
	}
	if result.Warning != "" {
		kept["warning"] = secrets.Redact(result.Warning)
	}
	var images []any
	for _, image := range result.Images {
		images = append(images, map[string]any{"mime": image.MIME, "content": sanitize.Hide(string(image.Data))})
	}
	if images != nil {
		kept["images"] = images
	}
	return kept
}

// ToJSONValue is a value as JSON has it, with numbers as they are written; nil with the error of what
// cannot be written so.
func ToJSONValue(value any) (any, error) {
	b, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

// record writes one entry. The caller's cancellation does not reach it: what
// has begun must end on record.
func (g *Gateway) record(ctx context.Context, e *Entry) (failure *Error) {
	defer func() {
		if p := recover(); p != nil {
			g.markWriteFailed()
			failure = recordFailed(panicked(p).Err)
		}
	}()
	if g.Journal == nil {
		return recordFailed(nil)
	}
	if err := g.Journal.Record(context.WithoutCancel(ctx), e); err != nil {
		if why, is := errors.AsType[stopCause](err); is {
			return asNotDelivered(why.err)
		}
		g.markWriteFailed()
		return recordFailed(err)
	}
	if counted := e.Kind == Outcome && !e.Ran && e.Code != ""; g.lastWriteFailed.Load() && !counted {
		g.lastWriteFailed.Store(false) // of what may only have been counted nobody knows
	}
	return nil
}

func recordFailed(cause error) *Error {
	return &Error{
		Code:    RecordFailed,
		Message: "the journal cannot be written, so nothing was run",
		Hint:    whyUnrecorded(cause),
		Err:     cause,
	}
}

// whyUnrecorded says why the journal cannot be written, and what to do.
func whyUnrecorded(cause error) string {
	where := "the journal's folder"
	if at, ok := errors.AsType[*fs.PathError](cause); ok {
		where = CleanLabel(at.Path, maxName)
	}
	switch {
	case errors.Is(cause, syscall.ENOSPC):
		return "The disk is full: make room where " + where + " is."
	case errors.Is(cause, syscall.EROFS):
		return "The disk can only be read: let " + where + " be written, or name another file as the audit log."
	case errors.Is(cause, fs.ErrPermission):
		return "This account may not write " + where + ": allow it, or name another file as the audit log."
	}
	hint := "Look whether the disk is full and whether " + where + " may be written to."
	if at, ok := errors.AsType[*fs.PathError](cause); ok {
		hint += " The system says: " + CleanLabel(at.Err.Error(), maxName) + "."
	}
	return hint
}

// allowsUnaudited reports whether the call runs also where nothing can be put on record:
// a person at the command line reads what the gateway knows of itself, and stops it.
func (r *Request) allowsUnaudited() bool {
	return r.App != nil && r.Tool != nil && r.App.ID == BuiltinApp && r.Call.Caller.Door == DoorCLI &&
		r.Tool.AllowUnaudited
}

// withUnrecordedWarning is the result with the word that it is not on record.
func (r *Result) withUnrecordedWarning(late *Error) *Result {
	result := *r
	warning := "that this was done could not be put on record. " + late.Hint
	if result.Warning != "" {
		warning = result.Warning + "; " + warning
	}
	result.Warning = warning
	return &result
}

// outcomeNotRecorded makes of the failure to record an outcome what the caller must know
// about the call itself.
func outcomeNotRecorded(late, err *Error) *Error {
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

// doorAsks reports whether the door can put the questions that it gets.
func (p *invocation) doorAsks() bool {
	return p.entry.Caller.Door == DoorCLI || ClientCapabilitiesOf(p.ctx).CanAsk
}

// markWriteFailed notes that an entry was not kept.
func (g *Gateway) markWriteFailed() {
	g.lastWriteFailed.Store(true)
	g.journalWritable.Store(false)
}
