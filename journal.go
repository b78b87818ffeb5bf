package aai

import (
	"context"
	"time"
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

	// Fields of an Outcome. The empty Code is success; its Message is empty, Result.Record, or
	// states that nothing was done.
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

// A Journal stores entries. It is safe for concurrent use.
type Journal interface {
	// Record stores the entry before it returns; an entry with Durable set is on disk by then.
	Record(ctx context.Context, e *Entry) error
}

// A ReadyJournal can report beforehand whether an entry could be stored. Do calls Ready before
// the first call, and again after a failed write.
type ReadyJournal interface {
	Journal
	Ready(ctx context.Context) error
}
