package workflow

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
)

// A Store keeps how far workflows have come, so that what a crash left behind can be gone on
// with. It is told before and after every step; what it cannot keep is not done. It is safe
// for concurrent use.
type Store interface {
	// Begin is told of a workflow that is admitted, before its first step. One that it knows
	// is gone on with: it is this process's from then on, if it is no other's that runs.
	Begin(ctx context.Context, r *Run) error
	// Step is told of a step, or a call of a step of several, that begins, and again of how
	// it ended.
	Step(ctx context.Context, run string, r *Record) error
	// UndoAct is told of an act that is about to be taken back, and again of what became of it.
	UndoAct(ctx context.Context, run string, b *UndoRecord) error
	// End is told how the workflow ended, after whatever was taken back.
	End(ctx context.Context, run string, state State) error
}

// A Run is a workflow on its way.
type Run struct {
	ID       string // of the call that runs it
	Caller   aai.Caller
	App      string // whose tool it is: what steps are for that name no app
	Document *Document
	Params   map[string]any // that the workflow was given
	// Version is how a store has read the run. It lets nobody go on with one that is otherwise
	// by now. "" of one that was not read.
	Version string
}

// A State is how far a step or a workflow has come.
type State string

// The states.
const (
	Begun      State = "begun"
	Done       State = "done"
	Failed     State = "failed"
	Skipped    State = "passed"      // its condition did not hold
	RolledBack State = "rolled_back" // of a workflow: all that it did was taken back
	// PartlyRolledBack is of one of which something that it did stands.
	PartlyRolledBack State = "partly_rolled_back"
	// Interrupted is of a workflow that whoever ran it left in the middle.
	Interrupted State = "interrupted"
)

// A Record is how far one step has come, or one call of a step that makes several.
type Record struct {
	Step    int // from 1
	Part    int // which of several calls of the step, from 1; 0: the step itself
	State   State
	Reads   bool   // it changes nothing, so that it may be done again
	Value   any    // what later steps take, a JSON value
	Acts    []Act  // what it did, in the order in which it did it; of a step of several calls each has its own
	Failure string // how it failed, for people
}

// An Act is what a step did, or may have done, to the world.
type Act struct {
	ID        int       `json:"id"`   // within its run, from 1
	Step      string    `json:"step"` // as people know it: "step 3.1"
	App       string    `json:"app"`
	Tool      string    `json:"tool"`
	Uncertain bool      `json:"unsure,omitempty"` // nobody knows whether it was done
	Undo      *aai.Undo `json:"undo,omitempty"`
	// UndoStatus is what became of it where it was to be taken back, "" where it was not.
	UndoStatus undo.Status `json:"-"`
	step       *Step       // that was admitted, nil in a run that is gone on with
}

// A Taking is an act that is taken back.
type UndoRecord struct {
	Act    int         // its ID
	Status undo.Status // undo.Unsure before it is known
	Says   string
}

// A Start is where a workflow goes on, and with what. The zero Start is the beginning of one
// without parameters.
type ResumePoint struct {
	Run       string         // the run that is gone on with, which the store was told of; "": a new one
	Step      int            // the first step to run, from 1; 0 is 1
	Before    []Record       // of what ended before: steps, and calls of the first step to run, which are not made again
	Params    map[string]any // of the workflow
	CallAsked bool           // the call itself may have been asked about, and not its steps alone
}

// noStore keeps nothing.
type noStore struct{}

func (noStore) Begin(context.Context, *Run) error                  { return nil }
func (noStore) Step(context.Context, string, *Record) error        { return nil }
func (noStore) UndoAct(context.Context, string, *UndoRecord) error { return nil }
func (noStore) End(context.Context, string, State) error           { return nil }
