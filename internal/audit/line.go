package audit

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// How many bytes of a call's arguments, and of what it answered, the journal keeps,
// as JSON: as a rule, and where the person wants calls kept whole. What is longer
// is replaced by its length.
const (
	maxArgs = 16 << 10
	maxFull = 256 << 10
)

// line is an entry as the file has it. Times are RFC 3339 in UTC with
// nanoseconds, durations milliseconds.
type line struct {
	Boot       string          `json:"boot,omitempty"`
	Time       string          `json:"time"`
	Kind       aai.EntryKind   `json:"kind"`
	Call       string          `json:"call"`
	Parent     string          `json:"parent,omitempty"`
	Door       string          `json:"door,omitempty"`
	Caller     string          `json:"caller,omitempty"`
	Session    string          `json:"session,omitempty"`
	Principal  string          `json:"principal,omitempty"`
	Identity   string          `json:"identity,omitempty"`
	App        string          `json:"app,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	Target     string          `json:"target,omitempty"`
	On         recordedElement `json:"on,omitzero"`
	Effect     string          `json:"effect,omitempty"`
	Digest     string          `json:"digest,omitempty"`
	Consent    string          `json:"consent,omitempty"`
	Args       any             `json:"args,omitempty"`
	Result     string          `json:"result,omitempty"`
	Message    string          `json:"message,omitempty"`
	Delivery   aai.Delivery    `json:"delivery,omitempty"`
	Ran        bool            `json:"ran,omitempty"`
	Answer     any             `json:"answer,omitempty"`
	Kept       string          `json:"answer_sha256,omitempty"`
	Millis     float64         `json:"ms,omitempty"`
	PersonWait float64         `json:"asked_ms,omitempty"`
}

// recordedElement is what was acted on. Records of before have it as one text.
type recordedElement aai.TargetElement

// UnmarshalJSON implements json.Unmarshaler.
func (o *recordedElement) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*o = recordedElement{}
		return json.Unmarshal(b, &o.Name)
	}
	return json.Unmarshal(b, (*aai.TargetElement)(o))
}

// succeeded is the result of a call that ended well.
const succeeded = "ok"

// An entryBody is an entry on its way to be a record. What hides values in it is
// known only where the chain is.
type entryBody struct {
	line     line
	args     map[string]any
	answer   any
	maxBytes int // bytes of args and of answer
}

// hides reports whether the entry has values that need the chain's key.
func (b *entryBody) hides() bool {
	for _, value := range b.args {
		if hides(value) {
			return true
		}
	}
	return hides(b.answer)
}

func hides(value any) bool {
	switch v := value.(type) {
	case sanitize.Hidden:
		return true
	case map[string]any:
		for _, item := range v {
			if hides(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hides)
	}
	return false
}

// fillBody makes b what is to be written of an entry.
func (j *Journal) fillBody(b *entryBody, e *aai.Entry) {
	*b = entryBody{args: e.Args, maxBytes: maxArgs, line: line{
		Time: e.Time.UTC().Format(timeFormat), Kind: e.Kind, Call: e.Call, Parent: e.Parent,
		Door: e.Caller.Door, Caller: e.Caller.Name, Session: e.Caller.Session, Principal: e.Caller.Principal, Identity: e.Caller.Identity,
		App: e.App, Tool: e.Tool, Target: e.Target, On: recordedElement(e.Element), Digest: e.Digest, Consent: e.Consent,
		Message: e.Message, Delivery: e.Delivery, Ran: e.Ran, Kept: e.KeptDigest, Millis: float64(e.Elapsed.Microseconds()) / 1000, PersonWait: float64(e.PersonWait.Microseconds()) / 1000,
	}}
	if j.keepFull {
		b.maxBytes = maxFull
	}
	if e.Admitted {
		b.line.Effect = e.Effect.String()
	}
	if e.Kind != aai.Outcome {
		return
	}
	b.line.Result = succeeded
	if e.Code != "" {
		b.line.Result = string(e.Code)
	}
	if j.keepFull && e.ResultValue != nil {
		b.answer = e.ResultValue()
	}
}

// encode returns the inside of a JSON object.
func (b *entryBody) encode(boot string, mark chainKey) ([]byte, error) {
	b.line.Boot = boot
	if len(b.args) > 0 {
		b.line.Args, _ = marked(b.args, mark)
	}
	b.line.Answer, _ = marked(b.answer, mark)
	text, err := json.Marshal(&b.line)
	if err == nil && len(text) <= b.maxBytes {
		return text[1 : len(text)-1], nil // neither can be longer than both
	}
	if b.line.Args, err = bounded(b.line.Args, b.maxBytes); err != nil {
		return nil, fmt.Errorf("encode the arguments for the journal: %w", err)
	}
	if b.line.Answer, err = bounded(b.line.Answer, b.maxBytes); err != nil {
		b.line.Answer = map[string]bool{"unsayable": true} // the call has run; that is what must be on record
	}
	if text, err = json.Marshal(&b.line); err != nil {
		return nil, fmt.Errorf("encode a journal entry: %w", err)
	}
	return text[1 : len(text)-1], nil
}

// bounded is a value, or its length as JSON where that is more than most.
func bounded(value any, most int) (any, error) {
	if value == nil {
		return nil, nil
	}
	b, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if len(b) > most {
		return map[string]int{"omitted_bytes": len(b)}, nil
	}
	return json.RawMessage(b), nil
}

// shortBoot is enough of a boot id to tell one start of a computer from another.
func shortBoot(id [16]byte) string {
	if id == ([16]byte{}) {
		return ""
	}
	return hex.EncodeToString(id[:4])
}

// A markedValue stands in the place of a hidden value. Equal values have equal marks,
// and nobody who lacks the key can try which value has a mark.
type markedValue struct {
	Redacted bool   `json:"redacted"`
	Len      int    `json:"len"` // of the value in bytes, as text or JSON
	HMAC     string `json:"hmac"`
}

// marked returns the value with marks in the place of what is hidden in it, and
// whether anything was. It does not change the value.
func marked(value any, mark chainKey) (any, bool) {
	switch v := value.(type) {
	case sanitize.Hidden:
		b := v.Bytes()
		return markedValue{true, len(b), mark.seal(b).String()}, true
	case map[string]any:
		var changed map[string]any
		for name, item := range v {
			if m, hidden := marked(item, mark); hidden {
				if changed == nil {
					changed = maps.Clone(v)
				}
				changed[name] = m
			}
		}
		if changed != nil {
			return changed, true
		}
	case []any:
		var changed []any
		for i, item := range v {
			if m, hidden := marked(item, mark); hidden {
				if changed == nil {
					changed = slices.Clone(v)
				}
				changed[i] = m
			}
		}
		if changed != nil {
			return changed, true
		}
	}
	return value, false
}

// An event is what the journal itself has to say, as a record among the others.
type event struct {
	Boot string `json:"boot,omitempty"`
	Time string `json:"time"`
	Kind string `json:"kind"`

	// repaired: the file ended otherwise than the last record that was written.
	Torn  int64  `json:"torn,omitempty"`  // bytes behind the last whole record, which are no record
	Lost  uint64 `json:"lost,omitempty"`  // records that were written and are not there
	Cause string `json:"cause,omitempty"` // of the loss: crash, or cut

	// pruned: files were deleted because of their age or size.
	From    uint64 `json:"from,omitempty"`    // the first record in them, where it was for their size
	Through uint64 `json:"through,omitempty"` // the last record in them
	Seal    string `json:"through_mac,omitempty"`
	Files   int    `json:"files,omitempty"`
	Kept    int    `json:"kept,omitempty"`        // lines of them that are in a file of kept lines
	Digest  string `json:"kept_sha256,omitempty"` // of that file
	Forgot  uint64 `json:"forgotten,omitempty"`   // kept lines up to this record were deleted too
}

// The kinds of events.
const (
	repairedKind = "repaired"
	prunedKind   = "pruned"

	causeCrash = "crash" // the computer went down before they were on disk
	causeCut   = "cut"   // somebody took them away
)

func (ev event) encode(now time.Time, boot string) ([]byte, error) {
	ev.Boot, ev.Time = boot, now.UTC().Format(timeFormat)
	text, err := json.Marshal(ev)
	if err != nil {
		return nil, fmt.Errorf("encode a journal event: %w", err)
	}
	return text[1 : len(text)-1], nil
}
