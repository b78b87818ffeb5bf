package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

const (
	// eventWait is the time for which one call waits for an event.
	eventWait = 50 * time.Second
	// maxEvents is the number of events that one call reads.
	maxEvents = 10_000
	// minRunPause is the least time between two runs that events start.
	minRunPause = time.Second
	// maxFailedRuns is the number of failed runs in a row after which the command ends.
	maxFailedRuns = 5
	// maxOwnEvents is the number of events in a row that came during runs of the workflow, after which the command ends.
	maxOwnEvents = 20
)

func newWorkflowOn(r *run) *cobra.Command {
	var pairs []string
	var into string
	cmd := &cobra.Command{
		Use:   "on <app> <event> <name> [--into parameter] [--arg name=value]...",
		Short: "Run a stored workflow at each event of an app or a program",
		Long: "Runs a stored workflow at each event of that type, until it is interrupted. Events during\n" +
			"a run start the next one afterwards. It ends when the workflow's file changes, or after\n" +
			"five failed runs in a row, or if the workflow causes its own event. Agents cannot start it.",
		Example: "  aai-gateway workflow on org.example.Mail received sort --into event\n" +
			"  aai-gateway workflow on gedit window_closed backup",
		Args: operands(3, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			on := &eventRuns{run: r, cmd: cmd, workflow: args[2], into: into, pairs: pairs}
			return on.follow(cmd.Context(), args[0], args[1])
		},
	}
	cmd.Flags().StringArrayVarP(&pairs, "arg", "a", nil, "one argument: `name=value`, or name:=json")
	cmd.Flags().StringVar(&into, "into", "", "the `parameter` of the workflow that gets the event, an object")
	return cmd
}

// eventRuns runs a workflow at each event.
type eventRuns struct {
	*run
	cmd      *cobra.Command
	workflow string
	into     string
	pairs    []string
	file     string
	digest   [sha256.Size]byte
	failed   int // runs in a row
	own      int // events in a row that came during a run
	runs     []runTime
}

// A runTime is the time of a run of the workflow.
type runTime struct{ begun, ended time.Time }

// checkLoop returns an error after too many events in a row that came during runs: the workflow seems to cause them.
func (e *eventRuns) checkLoop(event any) error {
	object, _ := event.(map[string]any)
	text, _ := object["timestamp"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil //nolint:nilerr // the events of some apps have no time
	}
	isOwn := func(r runTime) bool { return !at.Before(r.begun) && !at.After(r.ended.Add(minRunPause)) }
	if !slices.ContainsFunc(e.runs, isOwn) {
		e.own = 0
		return nil
	}
	if e.own++; e.own < maxOwnEvents {
		return nil
	}
	failed := aai.Errorf(aai.AutomationFailed, "the last %d events came while the workflow %s ran: it seems to cause the event that starts it", e.own, aai.CleanLabel(e.workflow, 60))
	failed.Hint = "Choose an event that the workflow does not cause, or a narrower one."
	return failed
}

// follow waits for events of the type and runs the workflow, until ctx ends.
func (e *eventRuns) follow(ctx context.Context, app, event string) error {
	if err := e.remember(ctx); err != nil {
		return err
	}
	source, tool, args, err := e.source(ctx, app)
	if err != nil {
		return err
	}
	args["limit"], args["type"] = maxEvents, event
	last := 0
	for { // past the events of before
		now, found, err := e.read(ctx, source, tool, args, last)
		if err != nil {
			return err
		}
		if last = max(last, now); len(found) == 0 {
			break
		}
	}
	args["wait_ms"] = int(eventWait / time.Millisecond)
	e.output.note(fmt.Sprintf("Waiting for %s of %s; interrupt ends it.", aai.CleanLabel(event, 60), aai.CleanLabel(app, 60)))
	for ctx.Err() == nil {
		now, found, err := e.read(ctx, source, tool, args, last)
		if err != nil && ctx.Err() == nil {
			if !aai.AsError(err).RetrySafe() {
				return err
			}
			_ = aai.Sleep(ctx, minRunPause)
		}
		last = max(last, now)
		for _, one := range found {
			if err := e.once(ctx, one); err != nil {
				return err
			}
		}
	}
	return nil
}

// source returns the tool that reads the events: that of an app of the catalog, or the desktop's for a program.
func (e *eventRuns) source(ctx context.Context, app string) (source, tool string, args map[string]any, err error) {
	gateway, err := e.gateway()
	if err != nil {
		return "", "", nil, err
	}
	if found, err := gateway.Catalog.Find(ctx, app); err == nil && found.Tool(aai.EventsTool) != nil {
		return found.ID, aai.EventsTool, map[string]any{}, nil
	}
	return aai.DesktopApp, "ax_get_events", map[string]any{"app": app}, nil
}

// read returns the events after the number last, and the number of the last one.
func (e *eventRuns) read(ctx context.Context, source, tool string, args map[string]any, last int) (int, []any, error) {
	args = maps.Clone(args)
	args["after"] = last
	result, err := e.do(ctx, source, tool, args)
	if err != nil {
		return last, nil, err
	}
	value, err := aai.ToJSONValue(result.Data)
	if err != nil {
		return last, nil, err
	}
	data, _ := value.(map[string]any)
	now, _ := aai.WholeNumber(data["last"])
	found, _ := data["events"].([]any)
	return now, found, nil
}

// once runs the workflow for an event. Its error ends the command.
func (e *eventRuns) once(ctx context.Context, event any) error {
	if err := e.checkUnchanged(); err != nil {
		return err
	}
	object := map[string]any{}
	if e.into != "" {
		// The text of a placeholder would count as the person's own: it may name a secret.
		text, err := json.Marshal(event)
		if err != nil {
			return err
		}
		if bytes.Contains(text, []byte("{{")) {
			e.output.note("An event was left out: it contains {{, which could name a secret or a value.")
			return nil
		}
		object[e.into] = event
	}
	if err := e.checkLoop(event); err != nil {
		return err
	}
	begun := time.Now()
	defer func() {
		e.runs = append(e.runs[max(0, len(e.runs)-maxOwnEvents+1):], runTime{begun, time.Now()})
	}()
	if err := e.exec(e.cmd, workflowsApp, e.workflow, object, e.pairs); err == nil {
		e.failed = 0
	} else if e.failed++; ctx.Err() == nil {
		e.output.note("The run failed: " + aai.AsError(err).Error())
		if e.failed >= maxFailedRuns {
			return err
		}
	}
	_ = aai.Sleep(ctx, minRunPause)
	return nil
}

// remember stores the digest of the workflow's file.
func (e *eventRuns) remember(ctx context.Context) error {
	listed, err := e.callBuiltin(ctx, "workflow_list", nil)
	if err != nil {
		return err
	}
	value, err := aai.ToJSONValue(listed.Data)
	if err != nil {
		return err
	}
	rows, _ := value.([]any)
	for _, one := range rows {
		if row, _ := one.(map[string]any); row["name"] == e.workflow {
			e.file, _ = row["file"].(string)
			content, err := os.ReadFile(filepath.Clean(e.file))
			e.digest = sha256.Sum256(content)
			return err
		}
	}
	return usage(e.cmd, "%q is no stored workflow; workflow list shows them", aai.CleanLabel(e.workflow, 60))
}

// checkUnchanged returns an error if the workflow's file is another than at the start.
func (e *eventRuns) checkUnchanged() error {
	content, err := os.ReadFile(filepath.Clean(e.file))
	if err == nil && sha256.Sum256(content) == e.digest {
		return nil
	}
	failed := aai.Errorf(aai.PermissionDenied, "the workflow %s has changed since this command was started", aai.CleanLabel(e.workflow, 60))
	failed.Hint = "Look at " + e.file + ", and start the command again."
	return failed
}
