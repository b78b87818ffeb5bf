package aai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// An EntryKind tells at which point of a call an Entry is made.
type EntryKind string

// A call that reads or is refused has one Outcome. A call that acts has an Intent before it. A
// Received precedes both if a person is asked, or if no line is written within a second. It also
// tests the journal after a failed write.
const (
	Received EntryKind = "received"
	Intent   EntryKind = "intent"
	Outcome  EntryKind = "outcome"
)

// An Entry is one line of the journal. The first one of a call, of any kind, contains Caller and
// Parent; later ones repeat only Call, App, Tool and Target.
type Entry struct {
	Kind   EntryKind
	Time   time.Time // of this line: the call began Elapsed before its Outcome
	Call   string
	Parent string
	Caller Caller

	// App, Tool and Target are the resolved names. Before resolution, App and Tool are the
	// requested names, and Target is empty.
	App, Tool, Target string

	// Admitted reports that Effect, Digest, Consent and Args are set: in the first line after the
	// admission.
	Admitted bool
	Effect   Effect
	Digest   string
	Consent  string
	Args     map[string]any // secrets in them are of type sanitize.Hidden

	// Fields of an Outcome. The empty Code is success; its Message is empty, or states that
	// nothing was done.
	Code       Code
	Message    string
	Delivery   Delivery
	Elapsed    time.Duration
	PersonWait time.Duration // part of Elapsed spent waiting for the person
	// Ran reports that the tool's Action began; without it the call had no effect.
	Ran bool
	// Element is the window element of the action, or in an Intent the expected one if known.
	// Refs are omitted, since they are meaningless later.
	Element TargetElement
	// ResultValue returns the answer of a successful call, for a journal that stores answers: a
	// JSON value with secrets as sanitize.Hidden. Nil for other calls.
	ResultValue func() any `json:"-"`
	// KeptDigest is the SHA-256 of the answer as stored beside the journal.
	KeptDigest string

	// Precondition runs when no other entry of any gateway can come before this one. If it
	// returns an error, Record returns that and writes nothing. Nil means no condition. It must
	// be quick and must not record.
	Precondition func() error `json:"-"`

	// Durable requires the entry to be on disk before Record returns: before an action, and
	// before a question to a person.
	Durable bool
}

// maxName is the number of bytes that the journal keeps of a name chosen by a caller.
const maxName = 200

// receivedEntry returns the entry of a call on receipt.
func receivedEntry(c *Call) Entry {
	caller := c.Caller
	caller.Name = CleanLabel(caller.Name, maxName)
	return Entry{
		Call: c.ID, Parent: c.Parent, Caller: caller,
		App: CleanLabel(c.App, maxName), Tool: CleanLabel(c.Tool, maxName),
	}
}

// record writes a line of the call: the first one contains all known fields, a later one only new
// ones.
func (p *invocation) record(fill func(*Entry)) *Error {
	p.recordToken <- struct{}{}
	defer func() { <-p.recordToken }()
	return p.write(fill)
}

// write is record with p.recordToken held.
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

// recordLongRunning records a call that has been active for long without a line.
func (p *invocation) recordLongRunning() {
	p.recordToken <- struct{}{}
	defer func() { <-p.recordToken }()
	p.mu.Lock()
	settled := p.settled
	p.mu.Unlock()
	if !p.firstLineWritten && !settled {
		_ = p.write(func(e *Entry) { e.Kind, e.Time = Received, time.Now() }) // if this fails too, the outcome reports it
	}
}

// outcome returns a function that fills in the last line of a call. said is the redacted message.
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

// RedactedArgs returns the call's arguments for display: without the values of secret parameters,
// and of members at any depth with names that mark secrets. The caller must not change the map.
func (r *Request) RedactedArgs() map[string]any {
	shown, _ := r.recordArgs()
	return sanitize.Redact(shown, r.SecretParams(), func(any) any { return sanitize.Redacted })
}

// recordArgs returns the arguments as Tool.RecordArgs shows them, and the texts of at least
// minEchoedSecret bytes that recorded messages must not repeat.
func (r *Request) recordArgs() (shown map[string]any, secrets []string) {
	if r.Tool == nil || r.Tool.RecordArgs == nil {
		return r.Call.Args, nil
	}
	shown, secrets = r.Tool.RecordArgs(r.Call.Args)
	return shown, slices.DeleteFunc(secrets, func(text string) bool { return len(text) < minEchoedSecret })
}

// hashedArgs is RedactedArgs for the journal, in which equal secrets can be recognized.
func (r *Request) hashedArgs() map[string]any {
	shown, _ := r.recordArgs()
	return sanitize.Redact(shown, r.SecretParams(), func(value any) any { return sanitize.Hide(value) })
}

// keptAnswer returns the call's answer for the journal, without images, members with names that
// mark secrets, and values of secret arguments.
func (r *Request) keptAnswer(result *Result) any {
	kept := make(map[string]any)
	if r.Tool.PrivateResult {
		kept["text"] = sanitize.Hide(result.Text)
		return kept
	}
	texts := r.secretValues(r.SecretParams())
	data, _ := ToJSONValue(result.Data) // values that JSON cannot represent are not kept
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

// ToJSONValue converts a value to its JSON form, with numbers as json.Number. It returns an error
// for values that JSON cannot represent.
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

// record writes one entry. The caller's cancellation does not affect it, since a call that has
// begun must end in the journal.
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
		g.lastWriteFailed.Store(false) // the journal may only have counted such an entry, so it proves nothing
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

// whyUnrecorded returns the reason why the journal cannot be written, and the next step.
func whyUnrecorded(cause error) string {
	if e, ok := errors.AsType[*Error](cause); ok && e.Hint != "" {
		return CleanText(e.Message, maxName*4) + ". " + e.Hint
	}
	where := "the journal's folder"
	if at, ok := errors.AsType[*fs.PathError](cause); ok {
		where = CleanLabel(at.Path, maxName)
	}
	switch {
	case errors.Is(cause, syscall.ENOSPC):
		return "The disk is full: free space where " + where + " is."
	case errors.Is(cause, syscall.EROFS):
		return "The disk is read-only: make " + where + " writable, or name another file as the audit log."
	case errors.Is(cause, fs.ErrPermission):
		return "This account may not write " + where + ": allow it, or name another file as the audit log."
	}
	hint := "Check that the disk has free space and that " + where + " is writable."
	if at, ok := errors.AsType[*fs.PathError](cause); ok {
		hint += " The system says: " + CleanLabel(at.Err.Error(), maxName) + "."
	}
	return hint
}

// allowsUnaudited reports whether the call runs even if it cannot be recorded: a person at the
// command line reads the gateway's own state, or stops calls.
func (r *Request) allowsUnaudited() bool {
	return r.App != nil && r.Tool != nil && r.App.ID == BuiltinApp && r.Call.Caller.Door == DoorCLI &&
		r.Tool.AllowUnaudited
}

// withUnrecordedWarning returns the result with a warning that the call is not recorded.
func (r *Result) withUnrecordedWarning(late *Error) *Result {
	result := *r
	warning := "this call could not be recorded. " + late.Hint
	if result.Warning != "" {
		warning = result.Warning + "; " + warning
	}
	result.Warning = warning
	return &result
}

// outcomeNotRecorded returns the error for a call with an outcome that could not be recorded. If
// the call may have had an effect, late then says so.
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

// doorAsks reports whether the door can ask the questions that it receives.
func (p *invocation) doorAsks() bool {
	return p.entry.Caller.Door == DoorCLI || ClientCapabilitiesOf(p.ctx).CanAsk
}

// markWriteFailed notes that an entry was not stored.
func (g *Gateway) markWriteFailed() {
	g.lastWriteFailed.Store(true)
	g.journalWritable.Store(false)
}
