package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/script/child"
	"github.com/gybob/aai-gateway/internal/gateway"
)

const (
	// maxCalls limits the calls of a script.
	maxCalls = 10_000
	// maxShownLog limits the log in a result without full_log, in bytes.
	maxShownLog = 2 << 10
	// progressInterval is the minimum interval of progress messages.
	progressInterval = 200 * time.Millisecond
)

// run is one running script.
type run struct {
	gateway *gateway.Gateway
	call    *aai.Call
	args    scriptArgs
	watch   *watchdog

	calls          int
	mutations      mutations
	log            strings.Builder
	droppedLog     int       // dropped bytes of the log
	lastPublished  time.Time // time of the last progress message
	open           *aai.Error
	foreignSources []string // untrusted sources of the calls' results
}

// execute runs the job in a process, to its end.
func (r *run) execute(outer context.Context, cmd *exec.Cmd, job child.Job) (*aai.Result, error) {
	p, err := start(cmd)
	if err != nil {
		return nil,
			&aai.Error{Code: aai.Internal, Message: "the process for the script could not be started",
				Delivery: aai.NotDelivered, Err: err}
	}
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		r.watch.run(outer, p, cancel, done)
	}()
	last := r.serve(ctx, p, job)
	close(done)
	<-watched
	if last == nil && r.watch.stopped() == endNone {
		p.WaitExit(time.Second) // to get its exit state
	}
	p.Stop(false)
	return r.outcome(ctx, p, last)
}

// serve serves the requests of the process until it ends, and returns its result, or nil.
func (r *run) serve(ctx context.Context, p *scriptProcess, job child.Job) *child.Done {
	if child.Write(p.Stdin, job) != nil {
		return nil
	}
	for {
		var m child.Message
		if err := child.Read(p.Stdout, &m); err != nil {
			return nil
		}
		switch {
		case m.Done != nil:
			return m.Done
		case m.Log != nil:
			r.note(ctx, *m.Log)
		case m.Call != nil:
			if r.calls++; r.calls > maxCalls {
				r.watch.stop(endTooManyCalls)
				return nil
			}
			r.publishProgress(ctx, aai.Count(r.calls, "call"))
			reply := r.makeCall(ctx, m.Call)
			if r.watch.stopped() != endNone || child.Write(p.Stdin, reply) != nil {
				return nil
			}
		default:
			r.watch.stop(endProtocolError)
			return nil
		}
	}
}

// note stores a line of the log, up to the limit.
func (r *run) note(ctx context.Context, line string) {
	fits := min(len(line), max(0, child.MaxLog-r.log.Len()-1))
	r.droppedLog += len(line) - fits
	if fits > 0 || line == "" {
		r.log.WriteString(line[:fits] + "\n")
	}
	r.publishProgress(ctx, aai.CleanLabel(line, 200))
}

// publishProgress reports the progress, within progressInterval.
func (r *run) publishProgress(ctx context.Context, message string) {
	if now := time.Now(); now.Sub(r.lastPublished) >= progressInterval {
		r.lastPublished = now
		gateway.Progress(ctx, time.Since(r.watch.begun).Seconds(), 0, message)
	}
}

// outcome returns the result of the script, or its error.
func (r *run) outcome(ctx context.Context, p *scriptProcess, last *child.Done) (*aai.Result, error) {
	if why := r.watch.stopped(); why != endNone {
		return nil, r.ended(ctx, why)
	}
	if last == nil {
		return nil, r.processError(p)
	}
	if last.Failure != nil {
		return nil, r.failed(last.Failure)
	}
	return r.result(last), nil
}

// answer is the data of the tool's result.
type answer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Calls  int             `json:"calls"`
	Log    string          `json:"log,omitempty"`
}

// result returns the result, with a warning if it is truncated.
func (r *run) result(last *child.Done) *aai.Result {
	a := answer{Result: last.Value, Calls: r.calls}
	var warnings []string
	if last.Size > 0 {
		cut := last.Truncated[:min(len(last.Truncated), child.MaxResult)]
		a.Result, _ = json.Marshal(cut)
		warnings = append(warnings, fmt.Sprintf("the result's JSON has %d bytes; these are the first %d, as text",
			last.Size, len(cut)))
	}
	log, whole := strings.ToValidUTF8(r.log.String(), "\uFFFD"), r.log.Len()+r.droppedLog
	if !r.args.log {
		log = log[:min(len(log), maxShownLog)]
	}
	if a.Log = strings.ToValidUTF8(strings.TrimSuffix(log, "\n"), ""); len(log) < whole {
		warnings = append(warnings, fmt.Sprintf("the log has %d bytes; these are the first %d", whole, len(log)))
	}
	return &aai.Result{Data: a, Warning: strings.Join(warnings, "; "),
		UntrustedSource: strings.Join(r.foreignSources, ", ")}
}
