package workflow

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
)

// Store records the progress of workflows, so that a run can resume after a crash. Its methods are
// called before and after every step; a step that cannot be recorded does not run. It is safe for
// concurrent use.
type Store interface {
	// Begin records an admitted workflow, before its first step. A known run is resumed: this
	// process takes it over, unless another process runs it.
	Begin(ctx context.Context, r *Run) error
	// Step records the beginning of a step, or of one of several calls of a step, and later its
	// end.
	Step(ctx context.Context, run string, r *Record) error
	// UndoAct undoes nothing: it records that an act is about to be undone, and later the outcome.
	UndoAct(ctx context.Context, run string, b *UndoRecord) error
	// End records the end of the workflow, after its rollback.
	End(ctx context.Context, run string, state State) error
}

// Run identifies one run of a workflow in a Store.
type Run struct {
	ID       string // of the call that began it
	Caller   aai.Caller
	App      string // of the tool; aai.DesktopApp: every step is a desktop tool
	Document *Document
	Params   map[string]any // parameters of the workflow
	// Version is the run's version as the store read it. It prevents resuming a run that has
	// changed since. "" of one that was not read.
	Version string
}

// State is the progress of a step or a workflow.
type State string

// States of a step, or of a workflow.
const (
	Begun      State = "begun"
	Done       State = "done"
	Failed     State = "failed"
	Skipped    State = "passed"      // its condition did not hold
	RolledBack State = "rolled_back" // of a workflow: all acts were undone
	// PartlyRolledBack is a workflow with some acts not undone.
	PartlyRolledBack State = "partly_rolled_back"
	// Interrupted is a workflow that its process left unfinished.
	Interrupted State = "interrupted"
)

// Record is the progress of one step, or of one of several calls of a step.
type Record struct {
	Step    int // from 1
	Part    int // which of several calls of the step, from 1; 0: the step itself
	State   State
	Reads   bool   // it changes nothing, so it may be repeated
	Value   any    // for later steps, a JSON value
	Acts    []Act  // in order; with several calls, each call has its own
	Failure string // error text for display
}

// Act is an effect of a step, or a possible effect.
type Act struct {
	ID        int       `json:"id"`   // within its run, from 1
	Step      string    `json:"step"` // for display: "step 3.1"
	App       string    `json:"app"`
	Tool      string    `json:"tool"`
	Uncertain bool      `json:"unsure,omitempty"` // it may not have been done
	Undo      *aai.Undo `json:"undo,omitempty"`
	// UndoStatus is the outcome of undoing it, or "".
	UndoStatus undo.Status `json:"-"`
	step       *Step       // the admitted step; nil in a resumed run
}

// UndoRecord is the progress of undoing one act.
type UndoRecord struct {
	Act    int         // its ID
	Status undo.Status // undo.StatusUnknown before the outcome is known
	Says   string
}

// ResumePoint is the point at which a workflow continues. The zero value is the beginning of one
// without parameters.
type ResumePoint struct {
	Run       string         // the resumed run, known to the store; "": a new one
	Step      int            // the first step to run, from 1; 0 is 1
	Before    []Record       // records of ended steps, and of ended calls of the first step, which are not repeated
	Params    map[string]any // of the workflow
	CallAsked bool           // the consent question may concern the call itself, not only its steps
}

// noStore stores nothing.
type noStore struct{}

func (noStore) Begin(context.Context, *Run) error                  { return nil }
func (noStore) Step(context.Context, string, *Record) error        { return nil }
func (noStore) UndoAct(context.Context, string, *UndoRecord) error { return nil }
func (noStore) End(context.Context, string, State) error           { return nil }
