package answer

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway"
)

// Results of a CallRecord that are no error codes.
const (
	ResultOK      = "ok"
	ResultUnknown = "unknown" // of a call without an outcome: it still runs, or the gateway ended first
	ResultRefused = "refused" // of a summary of refused calls
)

// A CallRecord is one call in the history, or a summary of refused calls.
type CallRecord struct {
	Time     time.Time         `json:"time" column:"1,time"`
	Call     string            `json:"call" column:"10,call"`
	Parent   string            `json:"parent,omitempty"`
	Door     string            `json:"door"`
	Caller   string            `json:"caller" column:"2,caller"` // the self-reported name
	Identity string            `json:"identity,omitempty"`       // the verified identity, if known
	App      string            `json:"app" column:"3,app"`
	Tool     string            `json:"tool" column:"4,tool"`
	Target   string            `json:"target,omitempty"`          // the target app, if it is not App
	On       aai.TargetElement `json:"on,omitzero" column:"5,on"` // the element in the target, such as a button
	Effect   string            `json:"effect,omitempty" column:"6,effect"`
	Consent  string            `json:"consent,omitempty" column:"9,consent"`
	Args     json.RawMessage   `json:"args,omitempty"`
	// Answer is the call's result, if the journal keeps it.
	Answer json.RawMessage `json:"answer,omitempty"`
	// Result is one of the constants above or an error code. A summary of refused calls stands
	// for Count calls of one caller, none of which ran. Codes then counts the calls by error
	// code; Time and Until are the times of the first and the last.
	Result  string         `json:"result" column:"7,result"`
	Message string         `json:"message,omitempty" column:"11,message"`
	Millis  float64        `json:"ms" column:"8,ms"`
	Count   int            `json:"count,omitempty"`
	Codes   map[string]int `json:"codes,omitempty"`
	Until   time.Time      `json:"until,omitzero"`
}

// IsOK reports whether the call succeeded.
func (c CallRecord) IsOK() bool { return c.Result == ResultOK }

// IsOpen reports whether the call has no outcome.
func (c CallRecord) IsOpen() bool { return c.Result == ResultUnknown }

// IsAbandoned reports whether a call of the gateway itself ended because its client had gone,
// such as a browser. The messages of other apps are no evidence of that.
func (c CallRecord) IsAbandoned() bool {
	return c.App == aai.BuiltinApp && aai.IsCancellation(aai.Code(c.Result), c.Message)
}

// A TraceStep is one journal line about a call.
type TraceStep struct {
	Kind   aai.EntryKind `json:"kind" column:"1,step"`
	Time   time.Time     `json:"time" column:"2,time"`
	Record uint64        `json:"record,omitempty" column:"6,record"` // its number in the chain; zero if it is not of the chain
	// Session and Principal are the caller's, in the first step.
	Session          string            `json:"session,omitempty"`
	Principal        string            `json:"principal,omitempty"`
	App              string            `json:"app,omitempty"`
	Tool             string            `json:"tool,omitempty"`
	Target           string            `json:"target,omitempty"`
	On               aai.TargetElement `json:"on,omitzero"`
	Effect           string            `json:"effect,omitempty"`
	Digest           string            `json:"digest,omitempty"` // of the descriptor that consent is bound to
	Consent          string            `json:"consent,omitempty" column:"3,on whose word"`
	Result           string            `json:"result,omitempty" column:"5,result"`
	Message          string            `json:"message,omitempty"`
	Delivery         aai.Delivery      `json:"delivery,omitempty" column:"4,delivery"`
	Ran              bool              `json:"ran,omitempty"`
	Millis           float64           `json:"ms,omitempty"`
	PersonWaitMillis float64           `json:"asked_ms,omitempty"`      // the part of Millis spent waiting for the person
	KeptDigest       string            `json:"answer_sha256,omitempty"` // of the result that is kept beside the journal
}

// A Trace holds all records about one call.
type Trace struct {
	Call  CallRecord  `json:"call"`
	Steps []TraceStep `json:"steps"` // in their order
	// Parent is the call that made this one, Children the calls that this one made, oldest
	// first. OmittedChildren counts the children that are left out.
	Parent          *CallRecord  `json:"parent,omitempty"`
	Children        []CallRecord `json:"children,omitempty" column:"-"`
	OmittedChildren int          `json:"children_omitted,omitempty"`
	// Answer is the kept result of the call, and MissingReason the reason why it cannot be shown.
	Answer        json.RawMessage `json:"answer,omitempty"`
	MissingReason string          `json:"answer_lost,omitempty"`
}

// Forgotten is the result of deleting kept results.
type Forgotten struct {
	Forgotten int `json:"forgotten"` // number of deleted results
}

// ToolStats are the statistics of the calls of one tool, or of all tools of an app.
type ToolStats struct {
	App   string `json:"app" column:"1,app"`
	Tool  string `json:"tool,omitempty" column:"2,tool"` // "" for all of the app
	Calls int    `json:"calls" column:"3,calls"`
	// Failures counts the calls that ended with an error, including refused calls. Calls
	// with an unknown result are not failures.
	Failures int `json:"failures" column:"4,failed"`
	// P50 and P95 are percentiles of the durations of ended calls, rounded up to two digits.
	P50   float64   `json:"p50_ms" column:"5,p50 ms"`
	P95   float64   `json:"p95_ms" column:"6,p95 ms"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last" column:"7,last"`
}

// PeriodStats are the statistics of the calls of an hour or of a day.
type PeriodStats struct {
	Start    time.Time `json:"start" column:"1,from"`
	Calls    int       `json:"calls" column:"2,calls"`
	Failures int       `json:"failures" column:"3,failed"`
	P50      float64   `json:"p50_ms" column:"4,p50 ms"`
	P95      float64   `json:"p95_ms" column:"5,p95 ms"`
}

// Stats are the statistics of calls with a row for each tool or app, or for each period.
type Stats[Row ToolStats | PeriodStats] struct {
	Since    time.Time `json:"since,omitzero"` // time of the first counted call; only with rows of ToolStats
	Calls    int       `json:"calls"`
	Failures int       `json:"failures"`
	Rows     []Row     `json:"rows"` // periods are oldest first, without those that have no calls
}

// A Verdict is the result of verifying a journal.
type Verdict string

// The verdicts. If several faults occur, the fault at the first record decides; Unproven only if
// there is no other.
const (
	Intact    Verdict = "ok"        // no fault was found
	Tampered  Verdict = "tampered"  // a record was changed, removed, moved or inserted
	Truncated Verdict = "truncated" // records are missing at the beginning or at the end
	// Unproven: the records follow on each other, but the state of the chain is or was missing, so
	// records right before that may have been removed. It stays until the journal's limits delete the
	// record about it.
	Unproven Verdict = "unproven"
)

// A Fault is one place where the chain is broken.
type Fault struct {
	Verdict Verdict `json:"status"`
	Record  uint64  `json:"record"` // the number of the expected record
	File    string  `json:"file,omitempty"`
	Reason  string  `json:"reason"`
}

// A Repair describes damage by a crash to records that were not acknowledged as being on
// disk. It is no fault.
type Repair struct {
	Record  uint64 `json:"record"`            // the record about it; zero if the next one will be
	Torn    int64  `json:"torn,omitempty"`    // bytes that are no record
	Lost    uint64 `json:"lost,omitempty"`    // records that were not on disk yet
	Pending bool   `json:"pending,omitempty"` // found by this verification
}

// A Verification is the result of verifying the journal.
type Verification struct {
	Verdict       Verdict  `json:"status"`
	Records       uint64   `json:"records"` // unchanged records
	First         uint64   `json:"first,omitempty"`
	Last          uint64   `json:"last,omitempty"`
	Files         int      `json:"files"`
	Faults        []Fault  `json:"faults,omitempty"` // by record, the first of them
	OmittedFaults int      `json:"more,omitempty"`   // number of faults at later records, which are not listed
	Repairs       []Repair `json:"repairs,omitempty"`
	Pruned        uint64   `json:"pruned,omitempty"`    // records up to this one were deleted for their age or size
	Kept          uint64   `json:"kept,omitempty"`      // number of these that are kept because their calls acted
	Anchor        uint64   `json:"anchor,omitempty"`    // the record in the key store's anchor
	Unchained     []string `json:"unchained,omitempty"` // files outside the chain, which prove nothing
}

// String returns a sentence: first the faults, beginning with the one at the first record,
// and then the number of good records.
func (v *Verification) String() string {
	if v.Verdict != Intact {
		f := v.Faults[0]
		text := fmt.Sprintf("%s at record %d: %s", f.Verdict, f.Record, f.Reason)
		if more := len(v.Faults) - 1 + v.OmittedFaults; more > 0 {
			text += fmt.Sprintf("; %d more faults after it", more)
		}
		return text + fmt.Sprintf("; %d records are as they were written", v.Records)
	}
	text := fmt.Sprintf("ok, %d records", v.Records)
	if v.Kept > 0 {
		text += fmt.Sprintf(", and %d of calls that acted, kept of what was deleted for its size", v.Kept)
	}
	for _, r := range v.Repairs {
		switch {
		case r.Torn > 0 && r.Pending:
			text += "; a torn tail will be repaired"
		case r.Torn > 0:
			text += fmt.Sprintf("; a torn tail was repaired at record %d", r.Record)
		}
		if r.Lost > 0 {
			text += fmt.Sprintf("; %d records were not on disk yet when the computer went down", r.Lost)
		}
	}
	return text
}
