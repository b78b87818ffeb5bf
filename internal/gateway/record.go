package gateway

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// maxName is the number of bytes that the journal keeps of a name chosen by a caller.
const maxName = 200

// receivedEntry returns the entry of a call on receipt.
func receivedEntry(c *aai.Call) aai.Entry {
	caller := c.Caller
	caller.Name = aai.CleanLabel(caller.Name, maxName)
	return aai.Entry{
		Call: c.ID, Parent: c.Parent, Caller: caller,
		App: aai.CleanLabel(c.App, maxName), Tool: aai.CleanLabel(c.Tool, maxName),
	}
}

// lines tells which lines of a call are in the journal.
type lines struct {
	journalError     *aai.Error    // the reason why the call cannot be recorded, or nil; only for the goroutine
	token            chan struct{} // holds a token during a write; guards the fields below
	firstLineWritten bool
	admissionWritten bool
}

// acquire waits for other writes, until release is called.
func (l *lines) acquire() (release func()) {
	l.token <- struct{}{}
	return func() { <-l.token }
}

// hasFirst reports whether the first line is written.
func (l *lines) hasFirst() bool {
	defer l.acquire()()
	return l.firstLineWritten
}

// record writes a line of the call: the first one contains all known fields, a later one only new
// ones.
func (p *invocation) record(fill func(*aai.Entry)) *aai.Error {
	defer p.acquire()()
	return p.write(fill)
}

// write is record with the lines acquired.
func (p *invocation) write(fill func(*aai.Entry)) *aai.Error {
	p.mu.Lock()
	e, door := p.entry, p.ctx
	p.mu.Unlock()
	if p.firstLineWritten {
		e.Parent, e.Caller = "", aai.Caller{}
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
	defer p.acquire()()
	p.mu.Lock()
	settled := p.settled
	p.mu.Unlock()
	if !p.firstLineWritten && !settled {
		_ = p.write(func(e *aai.Entry) { e.Kind, e.Time = aai.Received, time.Now() }) // if this fails too, the outcome reports it
	}
}

// outcome returns a function that fills in the last line of a call. said is the redacted message.
func (p *invocation) outcome(e callResult, said string) func(*aai.Entry) {
	p.mu.Lock()
	ran, on := p.ran(), p.element
	p.mu.Unlock()
	asked := p.waited()
	return func(entry *aai.Entry) {
		entry.Kind, entry.Time, entry.Ran, entry.Element = aai.Outcome, time.Now(), ran, on
		entry.Elapsed, entry.PersonWait = entry.Time.Sub(p.started), asked
		if e.err != nil {
			entry.Code, entry.Message, entry.Delivery = e.err.Code, aai.CleanLabel(said, 4*maxName), e.err.Delivery
			entry.Durable = len(e.err.Questions) > 0 && p.doorAsks()
		} else if e.result != nil {
			entry.ResultValue = func() any { return keptAnswer(p.request, e.result) }
			entry.Message = aai.CleanLabel(e.result.Record, maxName)
			if e.result.NoOp {
				entry.Message = "nothing was done"
			}
		}
	}
}

// hashedArgs is RedactedArgs for the journal, in which equal secrets can be recognized. It shows the names of the
// person's secrets.
func hashedArgs(r *aai.Request) map[string]any {
	shown, _ := r.RecordedArgs()
	return sanitize.Redact(shown, r.SecretParams(), func(value any) any {
		if text, is := value.(string); is && isOneSecret(text) {
			return text
		}
		return sanitize.Hide(value)
	})
}

// recordedArgs returns the arguments for the journal.
func (p *invocation) recordedArgs() map[string]any {
	args := hashedArgs(p.request)
	for _, set := range p.secretSets() {
		args, _ = set.RedactValue(args).(map[string]any)
	}
	return args
}

// recordedElement returns the element for the journal.
func (p *invocation) recordedElement(hit aai.TargetElement) aai.TargetElement {
	told := sanitizedElement(p.request, hit)
	for _, set := range p.secretSets() {
		for _, text := range []*string{&told.Role, &told.Name, &told.ID, &told.Window} {
			*text = set.Redact(*text)
		}
	}
	return told
}

// keptAnswer returns the call's answer for the journal, without images, members with names that
// mark secrets, and values of secret arguments.
func keptAnswer(r *aai.Request, result *aai.Result) any {
	kept := make(map[string]any)
	if r.Tool.Privacy.Result {
		kept["text"] = sanitize.Hide(result.Text)
		return kept
	}
	texts := secretValues(r, r.SecretParams())
	data, _ := aai.ToJSONValue(result.Data) // values that JSON cannot represent are not kept
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

// record writes one entry. The caller's cancellation does not affect it, since a call that has
// begun must end in the journal.
func (g *Gateway) record(ctx context.Context, e *aai.Entry) (failure *aai.Error) {
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
	if counted := e.Kind == aai.Outcome && !e.Ran && e.Code != ""; g.lastWriteFailed.Load() && !counted {
		g.lastWriteFailed.Store(false) // the journal may only have counted such an entry, so it proves nothing
	}
	return nil
}

func recordFailed(cause error) *aai.Error {
	return &aai.Error{
		Code:    aai.RecordFailed,
		Message: "the journal cannot be written, so nothing was run",
		Hint:    whyUnrecorded(cause),
		Err:     cause,
	}
}

// whyUnrecorded returns the reason why the journal cannot be written, and the next step.
func whyUnrecorded(cause error) string {
	if e, ok := errors.AsType[*aai.Error](cause); ok && e.Hint != "" {
		return aai.CleanText(e.Message, maxName*4) + ". " + e.Hint
	}
	where := "the journal's folder"
	if at, ok := errors.AsType[*fs.PathError](cause); ok {
		where = aai.CleanLabel(at.Path, maxName)
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
		hint += " The system says: " + aai.CleanLabel(at.Err.Error(), maxName) + "."
	}
	return hint
}

// allowsUnaudited reports whether the call runs even if it cannot be recorded: a person at the
// command line reads the gateway's own state, or stops calls.
func allowsUnaudited(r *aai.Request) bool {
	return r.App != nil && r.Tool != nil && r.App.ID == aai.BuiltinApp && r.Call.Caller.Door == aai.DoorCLI &&
		r.Assessment().AllowUnaudited
}

// withUnrecordedWarning returns the result with a warning that the call is not recorded.
func withUnrecordedWarning(r *aai.Result, late *aai.Error) *aai.Result {
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
func outcomeNotRecorded(late, err *aai.Error) *aai.Error {
	switch {
	case err == nil:
		late.Message = "the call ran, but its outcome could not be recorded"
		late.Delivery = aai.Delivered
	case !err.RetrySafe():
		late.Message = "the call failed with " + string(err.Code) + ", and its outcome could not be recorded"
		late.Delivery = err.Delivery
	}
	return late
}

// doorAsks reports whether the door can ask the questions that it receives.
func (p *invocation) doorAsks() bool {
	return p.entry.Caller.Door == aai.DoorCLI || aai.ClientCapabilitiesOf(p.ctx).CanAsk
}

// markWriteFailed notes that an entry was not stored.
func (g *Gateway) markWriteFailed() {
	g.lastWriteFailed.Store(true)
	g.journalWritable.Store(false)
}
