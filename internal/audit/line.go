package audit

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Limits for the JSON of a call's arguments, and of its result, in bytes: the default, and
// the limit with Config.KeepFull. A longer value is replaced by its length.
const (
	maxArgs = 16 << 10
	maxFull = 256 << 10
)

// line is an entry in the form of the file. Times are RFC 3339 in UTC with nanoseconds,
// durations milliseconds.
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

// recordedElement is the target element. Older records contain it as one text.
type recordedElement aai.TargetElement

// UnmarshalJSON implements json.Unmarshaler.
func (o *recordedElement) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*o = recordedElement{}
		return json.Unmarshal(b, &o.Name)
	}
	return json.Unmarshal(b, (*aai.TargetElement)(o))
}

// An entryBody is an entry before its encoding. The key that marks its hidden values is
// known only with the state.
type entryBody struct {
	line     line
	args     map[string]any
	answer   any
	maxBytes int // limit for args and for answer, in bytes
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

// fillBody sets b to the recorded part of an entry.
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
	b.line.Result = answer.ResultOK
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
		return text[1 : len(text)-1], nil // so neither the arguments nor the answer is too long
	}
	if b.line.Args, err = bounded(b.line.Args, b.maxBytes); err != nil {
		return nil, fmt.Errorf("encode the arguments for the journal: %w", err)
	}
	if b.line.Answer, err = bounded(b.line.Answer, b.maxBytes); err != nil {
		b.line.Answer = map[string]bool{"unsayable": true} // the call has run, which must be on record
	}
	if text, err = json.Marshal(&b.line); err != nil {
		return nil, fmt.Errorf("encode a journal entry: %w", err)
	}
	return text[1 : len(text)-1], nil
}

// bounded returns a value as JSON, or only its length if that is more than most bytes.
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

// shortBoot returns a prefix of a boot ID that distinguishes boots.
func shortBoot(id [16]byte) string {
	if id == ([16]byte{}) {
		return ""
	}
	return hex.EncodeToString(id[:4])
}

// A markedValue replaces a hidden value. Equal values have equal marks, and without the
// key a mark cannot be used to guess its value.
type markedValue struct {
	Redacted bool   `json:"redacted"`
	Len      int    `json:"len"` // of the value in bytes, as text or JSON
	HMAC     string `json:"hmac"`
}

// marked returns a copy of the value with marks instead of its hidden values, and reports
// whether there were any.
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

// An event is a record about the journal itself.
type event struct {
	Boot string `json:"boot,omitempty"`
	Time string `json:"time"`
	Kind string `json:"kind"`

	// repaired: the file did not end with the last written record.
	Torn  int64  `json:"torn,omitempty"`  // bytes after the last whole record that are no record
	Lost  uint64 `json:"lost,omitempty"`  // written records that are missing
	Cause string `json:"cause,omitempty"` // of the loss: crash, or cut

	// pruned: files were deleted because of their age or size.
	From    uint64 `json:"from,omitempty"`    // the first record in them, if they were deleted for their size
	Through uint64 `json:"through,omitempty"` // the last record in them
	Seal    string `json:"through_mac,omitempty"`
	Files   int    `json:"files,omitempty"`
	Kept    int    `json:"kept,omitempty"`        // number of their lines in a file of kept lines
	Digest  string `json:"kept_sha256,omitempty"` // of that file
	Forgot  uint64 `json:"forgotten,omitempty"`   // kept lines up to this record were deleted too
}

// The kinds of events.
const (
	repairedKind = "repaired"
	prunedKind   = "pruned"

	causeCrash = "crash" // the computer crashed before the records were on disk
	causeCut   = "cut"   // the records were removed
	// causeNoState: none are known to be lost, but the state of the chain was missing.
	causeNoState = "state missing"
)

func (ev event) encode(now time.Time, boot string) ([]byte, error) {
	ev.Boot, ev.Time = boot, now.UTC().Format(timeFormat)
	text, err := json.Marshal(ev)
	if err != nil {
		return nil, fmt.Errorf("encode a journal event: %w", err)
	}
	return text[1 : len(text)-1], nil
}
